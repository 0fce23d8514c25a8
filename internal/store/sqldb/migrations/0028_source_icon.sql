-- The icon and the home page that a feed declares, which its description holds too. Each page of a
-- river shows them, and reads no description for them.

ALTER TABLE source ADD COLUMN icon TEXT NOT NULL DEFAULT '';
ALTER TABLE source ADD COLUMN home TEXT NOT NULL DEFAULT '';
UPDATE source SET icon = (SELECT {ICON OF SOURCE} FROM source_document AS d WHERE d.id = source.id),
	home = (SELECT {HOME OF SOURCE} FROM source_document AS d WHERE d.id = source.id)
	WHERE id IN (SELECT d.id FROM source_document AS d WHERE d.about NOT LIKE '%\u0000%');
