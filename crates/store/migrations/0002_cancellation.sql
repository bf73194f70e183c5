-- What somebody asked to be cancelled: read by the process that runs it.
create table cancellation (
    tenant text not null,
    execution text not null,
    requested_by text not null,
    requested_at integer not null,
    primary key (tenant, execution),
    foreign key (tenant, execution) references execution (tenant, id)
) strict, without rowid;
