// Command cloudburst is a server to read, write and share feeds, and the tools around it.
// Everything it does is in internal/cli.
package main

import (
	"os"

	"cloudburst/internal/cli"
)

func main() { os.Exit(cli.Main()) }
