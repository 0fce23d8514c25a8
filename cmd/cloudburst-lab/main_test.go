package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"cloudburst/internal/cli"
	"cloudburst/lab/labcli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cloudburst":     func() { os.Exit(cli.Main()) },
		"cloudburst-lab": func() { os.Exit(labcli.Main()) },
	})
}

// TestCommandScriptsPass runs testdata/script/*.txt with only the commands of testscript.
func TestCommandScriptsPass(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true})
}
