// Command cloudburst is a server to read, write and share feeds, and the tools around it.
// internal/cli contains the implementation.
package main

import (
	"os"

	"cloudburst/internal/cli"
)

func main() { os.Exit(cli.Main()) }
