-- What readers of feeds want to know of a subscription at a hub: since when nothing
-- was left untold, and how an rssCloud agreed to tell.

ALTER TABLE follow ADD COLUMN since_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE follow ADD COLUMN notify_by TEXT NOT NULL DEFAULT '';
UPDATE follow SET since_at = confirmed_at WHERE state = 'active';
