-- A feed that has moved for a time only: readers are sent on, and keep its URL.

ALTER TABLE saved ADD COLUMN temporary BOOLEAN NOT NULL DEFAULT FALSE;
