-- Under which key a caller's run was started, so that the same call, sent again, does not run again.
create table idempotency (
    tenant text not null,
    caller text not null,
    key text not null,
    call blob not null check (length(call) = 32),
    execution text not null,
    created_at integer not null,
    primary key (tenant, caller, key),
    foreign key (tenant, execution) references execution (tenant, id)
) strict, without rowid;

create index idempotency_by_time on idempotency (created_at);
create index idempotency_by_execution on idempotency (tenant, execution);
