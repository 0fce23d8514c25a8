// Command cloudburst is a server that reads, writes and shares feeds. It also contains the tools
// for the server. Package internal/cli contains the implementation.
package main

import (
	"os"

	"cloudburst/internal/cli"
)

func main() { os.Exit(cli.Main()) }
