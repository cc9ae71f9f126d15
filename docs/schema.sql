-- Written by `make docs` from the migrations: PostgreSQL's own words for the tables.

CREATE SCHEMA detent;

CREATE DOMAIN detent.instant AS timestamp with time zone
	CONSTRAINT "an instant lies between 1900 and 2200" CHECK (((VALUE >= '1900-01-01 00:00:00+00'::timestamp with time zone) AND (VALUE < '2200-01-01 00:00:00+00'::timestamp with time zone)));

CREATE TABLE detent.attempt (
    schedule_id bigint NOT NULL,
    scheduled_for timestamp with time zone NOT NULL,
    number integer NOT NULL,
    outcome text NOT NULL,
    final boolean NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone NOT NULL,
    volley bigint,
    node bigint,
    revision integer,
    tenant_id bigint NOT NULL,
    code text,
    error text,
    excerpt text,
    CONSTRAINT attempt_number_check CHECK ((number >= 0)),
    CONSTRAINT attempt_outcome_check CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text, 'timed_out'::text, 'lost'::text, 'cancelled'::text, 'missed'::text, 'skipped'::text, 'collapsed'::text, 'withdrawn'::text, 'discarded'::text]))),
    CONSTRAINT "what never ran has number 0" CHECK (((number > 0) OR (started_at IS NULL)))
)
PARTITION BY RANGE (scheduled_for);

CREATE TABLE detent.catch_up (
    shard smallint NOT NULL,
    cursor timestamp with time zone DEFAULT '2000-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    rate double precision DEFAULT 0 NOT NULL
);

CREATE TABLE detent.dead (
    schedule_id bigint NOT NULL,
    scheduled_for timestamp with time zone NOT NULL,
    number integer NOT NULL,
    tenant_id bigint NOT NULL,
    outcome text NOT NULL,
    error text,
    died_at timestamp with time zone DEFAULT detent.now() NOT NULL
);

CREATE TABLE detent.firing (
    schedule_id bigint NOT NULL,
    scheduled_for timestamp with time zone NOT NULL,
    slot_at timestamp with time zone,
    due_at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    revision integer NOT NULL,
    epoch bigint,
    tenant_id bigint NOT NULL,
    planned_at timestamp with time zone DEFAULT detent.now() NOT NULL,
    CONSTRAINT firing_kind_check CHECK ((kind = ANY (ARRAY['slot'::text, 'catch_up'::text, 'manual'::text, 'backfill'::text, 'rerun'::text])))
)
PARTITION BY RANGE (scheduled_for);

CREATE TABLE detent.migration (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE detent.node (
    id bigint NOT NULL,
    kind text NOT NULL,
    version text NOT NULL,
    tzdata text NOT NULL,
    started_at timestamp with time zone DEFAULT detent.now() NOT NULL,
    lease_expires_at timestamp with time zone NOT NULL,
    stopping boolean DEFAULT false NOT NULL,
    CONSTRAINT node_kind_check CHECK ((kind = ANY (ARRAY['planner'::text, 'worker'::text, 'api'::text, 'all'::text])))
);

CREATE TABLE detent.omission (
    schedule_id bigint NOT NULL,
    from_at timestamp with time zone NOT NULL,
    to_at timestamp with time zone NOT NULL,
    reason text NOT NULL,
    revision integer NOT NULL,
    tenant_id bigint NOT NULL,
    count bigint,
    recorded_at timestamp with time zone DEFAULT detent.now() NOT NULL,
    CONSTRAINT "a range ends after it begins" CHECK ((to_at > from_at)),
    CONSTRAINT omission_reason_check CHECK ((reason = ANY (ARRAY['misfire'::text, 'grace'::text, 'excluded'::text, 'paused'::text, 'edited'::text, 'deleted'::text, 'skipped'::text, 'parked'::text])))
);

CREATE TABLE detent.pause_wish (
    schedule_id bigint NOT NULL,
    revision integer NOT NULL,
    reason text NOT NULL,
    wished_at timestamp with time zone DEFAULT detent.now() NOT NULL
);

CREATE TABLE detent.pool (
    name text NOT NULL,
    cap integer,
    timeout interval,
    CONSTRAINT pool_cap_check CHECK ((cap > 0)),
    CONSTRAINT pool_name_check CHECK ((name ~ '^[a-z0-9_-]{1,63}$'::text)),
    CONSTRAINT pool_timeout_check CHECK ((timeout > '00:00:00'::interval))
);

CREATE TABLE detent.progress (
    schedule_id bigint NOT NULL,
    scheduled_for timestamp with time zone NOT NULL,
    volley bigint NOT NULL,
    at timestamp with time zone DEFAULT detent.now() NOT NULL,
    done double precision,
    note text
);

CREATE TABLE detent.revision (
    schedule_id bigint NOT NULL,
    number integer NOT NULL,
    spec jsonb NOT NULL,
    valid_from timestamp with time zone DEFAULT detent.now() NOT NULL,
    valid_to timestamp with time zone,
    by text DEFAULT 'unknown'::text NOT NULL,
    reason text,
    tzdata text
);

CREATE TABLE detent.running (
    schedule_id bigint NOT NULL,
    seat bigint NOT NULL,
    scheduled_for timestamp with time zone NOT NULL,
    number integer NOT NULL,
    volley bigint,
    node bigint,
    started_at timestamp with time zone NOT NULL,
    lane bigint NOT NULL,
    pool text NOT NULL,
    cancel text,
    CONSTRAINT "who runs has a volley" CHECK (((node IS NULL) OR (volley IS NOT NULL)))
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE detent.schedule (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    name text NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    status_reason text,
    paused_until detent.instant,
    origin text,
    declared text,
    cadence text NOT NULL,
    work text NOT NULL,
    overlap text DEFAULT 'skip'::text NOT NULL,
    created_at timestamp with time zone DEFAULT detent.now() NOT NULL,
    CONSTRAINT schedule_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT schedule_overlap_check CHECK ((overlap = ANY (ARRAY['skip'::text, 'queue'::text, 'collapse'::text, 'cancel_previous'::text, 'allow'::text]))),
    CONSTRAINT schedule_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'parked'::text, 'ended'::text, 'deleted'::text])))
);

ALTER TABLE detent.schedule ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME detent.schedule_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE detent.secret (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT detent.now() NOT NULL,
    retires_at timestamp with time zone,
    CONSTRAINT "only what signs retires" CHECK (((kind = 'signing'::text) OR (retires_at IS NULL))),
    CONSTRAINT secret_kind_check CHECK ((kind = ANY (ARRAY['signing'::text, 'value'::text]))),
    CONSTRAINT secret_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);

ALTER TABLE detent.secret ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME detent.secret_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE detent.shard (
    id smallint NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    holder bigint,
    CONSTRAINT shard_id_check CHECK (((id >= 0) AND (id <= 255)))
);

CREATE TABLE detent.stale_result (
    schedule_id bigint NOT NULL,
    scheduled_for timestamp with time zone NOT NULL,
    number integer NOT NULL,
    volley bigint NOT NULL,
    node bigint NOT NULL,
    outcome text NOT NULL,
    error text,
    brought_at timestamp with time zone DEFAULT detent.now() NOT NULL
);

CREATE TABLE detent.tally (
    minute timestamp with time zone NOT NULL,
    tenant_id bigint NOT NULL,
    outcome text NOT NULL,
    n bigint NOT NULL
);

CREATE TABLE detent.tenant (
    id bigint NOT NULL,
    name text NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    cap integer,
    min_interval interval DEFAULT '00:01:00'::interval NOT NULL,
    created_at timestamp with time zone DEFAULT detent.now() NOT NULL,
    CONSTRAINT tenant_cap_check CHECK ((cap > 0)),
    CONSTRAINT tenant_min_interval_check CHECK ((min_interval >= '00:00:00.001'::interval)),
    CONSTRAINT tenant_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
);

ALTER TABLE detent.tenant ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME detent.tenant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE detent.timer (
    schedule_id bigint NOT NULL,
    shard smallint NOT NULL,
    next_at detent.instant,
    active boolean DEFAULT true NOT NULL,
    revision integer NOT NULL,
    fired_count integer DEFAULT 0 NOT NULL,
    last_for timestamp with time zone,
    tenant_id bigint NOT NULL,
    pool text NOT NULL,
    priority smallint DEFAULT 4 NOT NULL,
    seats integer DEFAULT 1 NOT NULL,
    needs integer DEFAULT 0 NOT NULL,
    start_deadline interval,
    CONSTRAINT timer_priority_check CHECK (((priority >= 0) AND (priority <= 9))),
    CONSTRAINT timer_seats_check CHECK ((seats >= 0)),
    CONSTRAINT timer_shard_check CHECK (((shard >= 0) AND (shard <= 255)))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');

CREATE TABLE detent.tzdata (
    one boolean DEFAULT true NOT NULL,
    version text NOT NULL,
    CONSTRAINT tzdata_one_check CHECK (one)
);

CREATE SEQUENCE detent.volley
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE detent.waiting (
    schedule_id bigint NOT NULL,
    scheduled_for timestamp with time zone NOT NULL,
    number integer DEFAULT 1 NOT NULL,
    pool text NOT NULL,
    lane bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    held text,
    kind text,
    slot_at timestamp with time zone,
    seats integer NOT NULL,
    seat bigint,
    needs integer DEFAULT 0 NOT NULL,
    CONSTRAINT waiting_held_check CHECK ((held = ANY (ARRAY['paused'::text, 'edited'::text, 'deleted'::text, 'skipped'::text, 'queued'::text, 'cancelled'::text]))),
    CONSTRAINT waiting_kind_check CHECK ((kind <> 'slot'::text))
)
WITH (fillfactor='90', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0');

CREATE TABLE detent.zone_rules (
    version text NOT NULL,
    zone text NOT NULL,
    spans jsonb NOT NULL
);

ALTER TABLE ONLY detent.running
    ADD CONSTRAINT "a firing has one seat" UNIQUE (schedule_id, scheduled_for);

ALTER TABLE ONLY detent.attempt
    ADD CONSTRAINT attempt_pkey PRIMARY KEY (schedule_id, scheduled_for, number);

ALTER TABLE ONLY detent.catch_up
    ADD CONSTRAINT catch_up_pkey PRIMARY KEY (shard);

ALTER TABLE ONLY detent.dead
    ADD CONSTRAINT dead_pkey PRIMARY KEY (schedule_id, scheduled_for);

ALTER TABLE ONLY detent.firing
    ADD CONSTRAINT firing_pkey PRIMARY KEY (schedule_id, scheduled_for);

ALTER TABLE ONLY detent.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (name);

ALTER TABLE ONLY detent.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (id);

ALTER TABLE ONLY detent.pause_wish
    ADD CONSTRAINT pause_wish_pkey PRIMARY KEY (schedule_id);

ALTER TABLE ONLY detent.pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (name);

ALTER TABLE ONLY detent.progress
    ADD CONSTRAINT progress_pkey PRIMARY KEY (schedule_id, scheduled_for);

ALTER TABLE ONLY detent.revision
    ADD CONSTRAINT revision_pkey PRIMARY KEY (schedule_id, number);

ALTER TABLE ONLY detent.running
    ADD CONSTRAINT running_pkey PRIMARY KEY (schedule_id, seat);

ALTER TABLE ONLY detent.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (id);

ALTER TABLE ONLY detent.secret
    ADD CONSTRAINT secret_pkey PRIMARY KEY (id);

ALTER TABLE ONLY detent.shard
    ADD CONSTRAINT shard_pkey PRIMARY KEY (id);

ALTER TABLE ONLY detent.tenant
    ADD CONSTRAINT tenant_name_key UNIQUE (name);

ALTER TABLE ONLY detent.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY detent.timer
    ADD CONSTRAINT timer_pkey PRIMARY KEY (schedule_id);

ALTER TABLE ONLY detent.tzdata
    ADD CONSTRAINT tzdata_pkey PRIMARY KEY (one);

ALTER TABLE ONLY detent.waiting
    ADD CONSTRAINT waiting_pkey PRIMARY KEY (schedule_id, scheduled_for);

ALTER TABLE ONLY detent.zone_rules
    ADD CONSTRAINT zone_rules_pkey PRIMARY KEY (version, zone);

CREATE UNIQUE INDEX "a name is unique within its tenant" ON detent.schedule USING btree (tenant_id, name) WHERE (status <> 'deleted'::text);

CREATE UNIQUE INDEX "a tenant has one secret of a name, but for those that retire" ON detent.secret USING btree (tenant_id, kind, name) WHERE (retires_at IS NULL);

CREATE INDEX dead_died ON detent.dead USING btree (died_at);

CREATE INDEX node_lease ON detent.node USING btree (lease_expires_at);

CREATE INDEX omission_of_schedule ON detent.omission USING btree (schedule_id, from_at);

CREATE INDEX omission_recorded ON detent.omission USING btree (recorded_at);

CREATE INDEX revision_replaced ON detent.revision USING btree (valid_to) WHERE (valid_to IS NOT NULL);

CREATE INDEX running_cancel ON detent.running USING btree (node) WHERE (cancel IS NOT NULL);

CREATE INDEX schedule_paused_until ON detent.schedule USING btree (paused_until) WHERE (paused_until IS NOT NULL);

CREATE INDEX secret_of_tenant ON detent.secret USING btree (tenant_id);

CREATE INDEX stale_result_brought ON detent.stale_result USING btree (brought_at);

CREATE INDEX tally_minute ON detent.tally USING btree (minute);

CREATE INDEX timer_due ON detent.timer USING btree (shard, next_at) WHERE active;

CREATE INDEX waiting_due ON detent.waiting USING btree (pool, lane, due_at) WHERE (held IS NULL);

CREATE INDEX waiting_expires ON detent.waiting USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX waiting_held ON detent.waiting USING btree (due_at) WHERE (held IS NOT NULL);
