package sqlstore

// Store implements the hub's store over a DB; Backup and Close are the
// business of the package that makes the Engine.
type Store struct {
	*DB
	// Words is how the database finds words.
	Words Words
}
