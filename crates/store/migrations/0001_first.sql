-- Every key starts with the tenant; `strict` refuses values of another type. Times are microseconds
-- since 1970-01-01 UTC. Skills are named by grants and executions without a foreign key: the skill may
-- be a folder, which has no row.

create table blob (
    tenant text not null,
    sha256 blob not null check (length(sha256) = 32),
    bytes blob not null,
    primary key (tenant, sha256)
) strict;

create table skill (
    tenant text not null,
    id text not null,
    owner text not null,
    slug text not null,
    description text not null,
    created_at integer not null,
    archived_at integer,
    published_revision text,
    primary key (tenant, id),
    unique (tenant, owner, slug),
    foreign key (tenant, published_revision) references revision (tenant, id)
) strict;

create table revision (
    tenant text not null,
    id text not null,
    skill text not null,
    number integer not null check (number > 0),
    manifest text not null,
    manifest_digest blob not null check (length(manifest_digest) = 32),
    created_by text not null,
    created_at integer not null,
    primary key (tenant, id),
    unique (tenant, skill, number),
    unique (tenant, skill, manifest_digest),
    foreign key (tenant, skill) references skill (tenant, id)
) strict;

create table revision_file (
    tenant text not null,
    revision text not null,
    path text not null,
    sha256 blob not null,
    primary key (tenant, revision, path),
    foreign key (tenant, revision) references revision (tenant, id),
    foreign key (tenant, sha256) references blob (tenant, sha256)
) strict, without rowid;

create index revision_file_by_blob on revision_file (tenant, sha256);

create trigger revision_is_immutable before update on revision
begin
    select raise(abort, 'a revision is immutable');
end;

create trigger revision_file_is_immutable before update on revision_file
begin
    select raise(abort, 'a revision is immutable');
end;

create trigger blob_is_immutable before update on blob
begin
    select raise(abort, 'a blob is immutable');
end;

create table script_grant (
    tenant text not null,
    id text not null,
    skill text not null,
    target text not null,
    pin blob check (pin is null or length(pin) = 32),
    granted_by text not null,
    granted_at integer not null,
    expires_at integer,
    revoked_at integer,
    primary key (tenant, id)
) strict;

-- In a unique index nulls are distinct, but two grants without a pin have the same key.
create unique index script_grant_key on script_grant (tenant, skill, target, coalesce(pin, x''));

create table audit (
    tenant text not null,
    sequence integer not null check (sequence > 0),
    id text not null,
    actor text not null,
    action text not null,
    entity text not null,
    before text,
    after text,
    created_at integer not null,
    previous_hash blob not null check (length(previous_hash) = 32),
    hash blob not null check (length(hash) = 32),
    primary key (tenant, sequence),
    unique (tenant, id)
) strict;

-- `insert or replace` deletes without a delete trigger; the first of these refuses it too.
create trigger audit_has_no_gap before insert on audit
when new.sequence <> 1 + coalesce((select max(sequence) from audit where tenant = new.tenant), 0)
begin
    select raise(abort, 'an audit entry has the next sequence number of its chain');
end;

create trigger audit_id_is_new before insert on audit
when exists (select 1 from audit where tenant = new.tenant and id = new.id)
begin
    select raise(abort, 'an audit entry with this id is there already');
end;

create trigger audit_refuses_update before update on audit
begin
    select raise(abort, 'the audit trail is append-only');
end;

create trigger audit_refuses_delete before delete on audit
begin
    select raise(abort, 'the audit trail is append-only');
end;

create table execution (
    tenant text not null,
    id text not null,
    status text not null,
    owner text not null,
    created_at integer not null,
    record text not null,
    primary key (tenant, id)
) strict;

create index execution_by_time on execution (tenant, created_at desc, id desc);
create index execution_running on execution (owner) where status = 'running';

-- A tenant, or `*` for all of them, which is no tenant's id.
create table pause (
    tenant text primary key
) strict, without rowid;

-- Written after a commit that failed: the frames that it may have left in the write-ahead log are
-- overwritten, so that what was refused cannot come back with the next recovery.
create table fence (
    id integer primary key check (id = 1),
    count integer not null
) strict;

insert into fence (id, count) values (1, 0);
