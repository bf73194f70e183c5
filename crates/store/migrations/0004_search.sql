-- The text of each skill's current revision, for search. A document's id is the row of its text; the text
-- itself is kept once, in the blobs. `place` holds the tenant as one word, so that a search never walks
-- through the skills of others.
create table search_document (
    id integer primary key,
    tenant text not null,
    skill text not null,
    revision text not null,
    unique (tenant, skill),
    foreign key (tenant, skill) references skill (tenant, id)
) strict;

create virtual table search_text using fts5 (
    place, name, description, instructions, files,
    content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3 4'
);

-- How a skill's runs ended: between equally good answers the one that served last and best comes first.
create table skill_use (
    tenant text not null,
    skill text not null,
    ended integer not null,
    succeeded integer not null,
    last_at integer not null,
    primary key (tenant, skill)
) strict, without rowid;

insert into skill_use (tenant, skill, ended, succeeded, last_at)
    select tenant, json_extract(record, '$.skill_id'), count(*), sum(status = 'success'), max(created_at)
    from execution
    where status not in ('running', 'not_started') and json_extract(record, '$.skill_id') is not null
    group by tenant, json_extract(record, '$.skill_id');

-- A caller's latest runs of a skill.
alter table execution add column caller text generated always as (json_extract(record, '$.caller')) virtual;
alter table execution add column slug text generated always as (json_extract(record, '$.slug')) virtual;
create index execution_by_skill on execution (tenant, caller, slug, created_at desc);
