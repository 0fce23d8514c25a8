-- What a source was read up to before everything was marked read the last time: NULL when
-- that never happened, or was undone.

ALTER TABLE river_subscription ADD COLUMN read_before BIGINT;
