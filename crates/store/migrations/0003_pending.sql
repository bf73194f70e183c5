-- What was refused for want of a grant, once for each script at each pin: what a person may want to approve.
create table pending_grant (
    tenant text not null,
    id text not null,
    skill text not null,
    slug text not null,
    script text not null,
    pin blob not null check (length(pin) = 32),
    revision text,
    reason text not null,
    asked_by text not null,
    asked integer not null check (asked > 0),
    first_at integer not null,
    last_at integer not null,
    primary key (tenant, id)
) strict, without rowid;
