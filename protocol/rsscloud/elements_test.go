package rsscloud_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
)

func update(t *testing.T) bool {
	t.Helper()
	return flag.Lookup("update").Value.String() == "true"
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

// TestCloudElementIsFoundInFeedsOfEveryFormat parses every feed of testdata/cloud and compares the result with its
// golden file.
func TestCloudElementIsFoundInFeedsOfEveryFormat(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cloud/*.xml")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d feeds in testdata/cloud, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			feed, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(rsscloud.FindCloud(feed, "http://feeds.example.net:8080/rss.xml"))
			golden := strings.TrimSuffix(file, ".xml") + ".golden"
			if update(t) {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func describe(c rsscloud.Cloud, err error) string {
	if err != nil {
		return fmt.Sprintf("error: %v (ErrNoCloud %t)\n", err, errors.Is(err, rsscloud.ErrNoCloud))
	}
	register, err1 := c.RegisterURL()
	ping, err2 := c.PingURL()
	cancel, err3 := c.CancelURL()
	return fmt.Sprintf("%s\nregister: %s %v\nping: %s %v\ncancel: %s %v\n", c, register, err1, ping, err2, cancel, err3)
}

func TestCloudWithEmptyDomainNeedsTheFeedURL(t *testing.T) {
	t.Parallel()
	feed := []byte(`<rss><channel><cloud domain="" port="80" path="/RPC2" registerProcedure="x" protocol="xml-rpc"/></channel></rss>`)
	for _, u := range []string{"", "not a url", "file:///rss.xml", "::"} {
		if c, err := rsscloud.FindCloud(feed, u); !errors.Is(err, rsscloud.ErrNoCloud) {
			t.Errorf("%q: %v, %v", u, c, err)
		}
	}
	c, err := rsscloud.FindCloud(feed, "https://[2001:db8::1]:99/rss.xml")
	if err != nil || c.Domain != "2001:db8::1" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestCloudElementInUnclosedCommentIsIgnored(t *testing.T) {
	t.Parallel()
	element := `<cloud domain="x.example" port="80" path="/a" registerProcedure="" protocol="http-post"/>`
	for _, before := range []string{"<!-- ", "<![CDATA[", "<!DOCTYPE rss [ <!ENTITY a \""} {
		if c, err := rsscloud.FindCloud([]byte("<rss><channel>"+before+element), "http://example.com/"); err == nil {
			t.Errorf("behind %q: %v", before, c)
		}
	}
	if _, err := rsscloud.FindCloud([]byte("<rss><channel>"+element), "http://example.com/"); err != nil {
		t.Error(err)
	}
}

// TestCloudElementIsFoundInLinearTime has inputs for which a scan with quadratic time would take
// hours.
func TestCloudElementIsFoundInLinearTime(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	for _, piece := range []string{"<", "<!", "<?", "<a", "<a b=\"", "<a b='<", "<!--", "<![CDATA[", "<cloud path=", "&", "<a &", "<cloud path='&#", "<item>", "</"} {
		if c, err := rsscloud.FindCloud([]byte(strings.Repeat(piece, n)), "http://example.com/"); err == nil && c.Domain == "" {
			t.Errorf("%q: %v", piece, c)
		}
	}
}
