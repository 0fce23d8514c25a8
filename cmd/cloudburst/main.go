// Command cloudburst is a hub for feeds and the tools around it. Everything it does
// is in internal/cli.
package main

import (
	"os"

	"cloudburst/internal/cli"
)

func main() { os.Exit(cli.Main()) }
