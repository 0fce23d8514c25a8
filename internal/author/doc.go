// Package author keeps what people publish here: feeds that they saved, byte for
// byte, and where those went.
package author
