-- The program that asked for a token by IndieAuth.

ALTER TABLE account_token ADD COLUMN client TEXT {BYTEWISE} NOT NULL DEFAULT '';
