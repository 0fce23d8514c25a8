package app_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// arrived is a request that a test server received, with its whole body.
type arrived struct {
	*http.Request
	body []byte
}

// send writes the bytes of a request to a connection. It returns the response and its body.
func send(t *testing.T, host string, request []byte) (*http.Response, []byte) {
	t.Helper()
	c, err := net.DialTimeout("tcp", host, maxWait)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}
