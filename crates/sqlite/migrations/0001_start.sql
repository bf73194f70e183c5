-- Times are microseconds since 1970-01-01 UTC; digests are hexadecimal as their type spells them.

create table skills (
    tenant      text    not null,
    id          text    not null,
    owner       text    not null,
    slug        text    not null,
    description text    not null,
    archived    integer not null default 0,
    published   text,
    created_at  integer not null,
    primary key (tenant, id),
    unique (tenant, owner, slug)
) strict;

create table revisions (
    tenant          text    not null,
    id              text    not null,
    skill_id        text    not null,
    number          integer not null,
    manifest        text    not null,
    manifest_digest text    not null,
    created_by      text    not null,
    created_at      integer not null,
    primary key (tenant, id),
    unique (tenant, skill_id, number),
    unique (tenant, skill_id, manifest_digest),
    foreign key (tenant, skill_id) references skills (tenant, id)
) strict;

-- Content is stored once per digest and shared between revisions.
create table blobs (
    sha256 text primary key not null,
    bytes  blob not null
) strict;

-- A grant without a pin has the empty pin, so that the key has no null.
create table grants (
    tenant     text    not null,
    id         text    not null,
    skill_id   text    not null,
    target     text    not null,
    pin        text    not null,
    granted_by text    not null,
    granted_at integer not null,
    expires_at integer,
    revoked_at integer,
    primary key (tenant, id),
    unique (tenant, skill_id, target, pin)
) strict;

create table audit (
    tenant        text    not null,
    sequence      integer not null,
    id            text    not null unique,
    actor         text    not null,
    action        text    not null,
    entity        text    not null,
    before        text,
    after         text,
    created_at    integer not null,
    previous_hash text    not null,
    hash          text    not null,
    primary key (tenant, sequence)
) strict;

create trigger audit_is_never_changed before update on audit
begin
    select raise(abort, 'the audit trail is append-only');
end;

create trigger audit_is_never_deleted before delete on audit
begin
    select raise(abort, 'the audit trail is append-only');
end;

create table executions (
    tenant     text    not null,
    id         text    not null,
    owner      text    not null,
    status     text    not null,
    created_at integer not null,
    document   text    not null,
    primary key (tenant, id)
) strict;

create index executions_newest on executions (tenant, created_at desc, id desc);
create index executions_open on executions (owner) where status = 'running';

-- The tenant `*` stands for all of them.
create table pauses (
    tenant    text    primary key not null,
    paused_at integer not null
) strict;
