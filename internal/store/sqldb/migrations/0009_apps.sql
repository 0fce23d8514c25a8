-- The keys by which apps sign in that send a hash of name and token (Fever): SHA-256 of
-- what they send. Tokens from before, and those that may not read, have none.

ALTER TABLE account_token ADD COLUMN app_key TEXT {BYTEWISE} NOT NULL DEFAULT '';
CREATE INDEX account_token_app ON account_token (app_key) WHERE app_key <> '';
