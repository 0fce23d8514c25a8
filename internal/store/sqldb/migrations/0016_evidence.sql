-- What is known of the validators of a topic: whether its server's claim that nothing
-- changed counts after a ping. What its checks cost, and when it must be read in full
-- although nobody pings.

ALTER TABLE topic ADD COLUMN proof TEXT NOT NULL DEFAULT '';
ALTER TABLE topic ADD COLUMN recent BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE topic ADD COLUMN believed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE topic ADD COLUMN full_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE topic ADD COLUMN again_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE topic ADD COLUMN not_modified BIGINT NOT NULL DEFAULT 0;
ALTER TABLE topic ADD COLUMN full_reads BIGINT NOT NULL DEFAULT 0;
ALTER TABLE topic ADD COLUMN full_bytes BIGINT NOT NULL DEFAULT 0;
