// Command cloudburst-lab benchmarks the server, and simulates larger installations with the
// measured costs. Package lab contains its code.
package main

import (
	"os"

	"cloudburst/lab/labcli"
)

func main() { os.Exit(labcli.Main()) }
