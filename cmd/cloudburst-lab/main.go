// Command cloudburst-lab benchmarks the server, and uses the measured costs to simulate larger
// installations. Package lab contains the implementation.
package main

import (
	"os"

	"cloudburst/lab/labcli"
)

func main() { os.Exit(labcli.Main()) }
