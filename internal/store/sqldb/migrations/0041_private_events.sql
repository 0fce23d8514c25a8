-- The public log contains no URL that may give access to a private feed, and does not name the feeds
-- that only the reader follows. Earlier versions stored such events. The subscriptions of the reader
-- and of the hub at other hubs cannot be told apart, so both are removed.
DELETE FROM event WHERE topic LIKE '%/private/%' OR text LIKE '%/private/%' OR door = 'relay' AND kind IN ('register', 'drop');
