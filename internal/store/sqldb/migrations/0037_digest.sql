-- How often a mailbox receives the items of a forwarding: '' at once, or 'daily', 'weekly'.
ALTER TABLE notice ADD COLUMN digest TEXT NOT NULL DEFAULT '';
