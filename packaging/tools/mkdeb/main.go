// Command mkdeb writes the Debian package DEB that the nfpm configuration FILE describes: mkdeb
// FILE DEB. It replaces environment variables in the configuration.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mkdeb:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("it needs the description and the package to write")
	}
	nfpm.RegisterPackager("deb", deb.Default)
	config, err := nfpm.ParseFileWithEnvMapping(os.Args[1], os.Getenv)
	if err != nil {
		return err
	}
	info, err := config.Get("deb")
	if err != nil {
		return err
	}
	info = nfpm.WithDefaults(info)
	// SOURCE_DATE_EPOCH sets the modification time, so that the same input gives the same
	// package.
	if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		info.MTime = time.Unix(epoch, 0).UTC()
	}
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	f, err := os.Create(os.Args[2])
	if err != nil {
		return err
	}
	defer f.Close()
	if err := deb.Default.Package(info, f); err != nil {
		return err
	}
	return f.Close()
}
