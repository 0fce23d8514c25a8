-- reported is the target of the latest report, until source is read again. source may not link to it.
ALTER TABLE mention ADD COLUMN reported TEXT NOT NULL DEFAULT '';
