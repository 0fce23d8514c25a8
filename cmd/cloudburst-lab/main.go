// Command cloudburst-lab measures the server and reckons with what it measured.
// Everything it does is in lab.
package main

import (
	"os"

	"cloudburst/lab/labcli"
)

func main() { os.Exit(labcli.Main()) }
