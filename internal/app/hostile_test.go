package app_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw sends bytes and returns what comes back until the server closes, or 20 s.
func raw(t *testing.T, base, send string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	// The server may answer and close before it has read all of it.
	_, _ = io.WriteString(conn, send)
	got, _ := io.ReadAll(conn)
	return string(got)
}

func request(method, path, head, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", method, path, head, len(body), body)
}

func TestHostileRequestsGetAClearAnswerAndLeaveNothing(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	const form = "Content-Type: application/x-www-form-urlencoded\r\n"
	const xml = "Content-Type: text/xml\r\n"
	for name, c := range map[string]struct{ send, want string }{
		"a head over 64 KiB":          {request("POST", "/rsscloud/ping", "X: "+strings.Repeat("x", 80<<10)+"\r\n"+form, "url=x"), " 431 "},
		"a form over 64 KiB":          {request("POST", "/rsscloud/ping", form, "url="+strings.Repeat("x", 80<<10)), " 413 "},
		"an endless chunked form":     {"POST /rsscloud/ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n" + form + "\r\n20000\r\n" + strings.Repeat("a", 0x20000) + "\r\n0\r\n\r\n", " 413 "},
		"more urls than are taken":    {request("POST", "/rsscloud/pleaseNotify", form, "port=80&path=/&protocol=http-post"+strings.Repeat("&url1=http://a.test/", 60)), "success=\"false\""},
		"a broken escape":             {request("POST", "/rsscloud/ping", form, "url=%zz"), "success=\"false\""},
		"a compressed form":           {request("POST", "/rsscloud/ping", form+"Content-Encoding: gzip\r\n", "url=x"), " 415 "},
		"multipart":                   {request("POST", "/rsscloud/ping", "Content-Type: multipart/form-data; boundary=x\r\n", "--x--"), " 415 "},
		"no url":                      {request("POST", "/rsscloud/ping", form, "feed=x"), "success=\"false\""},
		"a call with a DOCTYPE":       {request("POST", "/RPC2", xml, `<!DOCTYPE a [<!ENTITY b "c">]><methodCall><methodName>rssCloud.ping</methodName></methodCall>`), "-32700"},
		"a call of great depth":       {request("POST", "/RPC2", xml, "<methodCall><methodName>rssCloud.ping</methodName><params><param>"+strings.Repeat("<value><array><data>", 400)), "-32700"},
		"a call over 256 KiB":         {request("POST", "/RPC2", xml, "<methodCall>"+strings.Repeat(" ", 300<<10)+"</methodCall>"), "HTTP/1.1 "},
		"an unknown method":           {request("POST", "/RPC2", xml, "<methodCall><methodName>nobody.knows</methodName></methodCall>"), "-32601"},
		"an envelope that is none":    {request("POST", "/soap", xml, "<a/>"), "Fault"},
		"a refused answer type":       {request("POST", "/rsscloud/ping", form+"Accept: image/png\r\n", "url=http://127.0.0.1:9/"), " 406 "},
		"a method that is not for it": {request("DELETE", "/rsscloud/ping", "", ""), " 405 "},
		"no HTTP at all":              {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", " 400 "},
		"two lengths":                 {"POST /rsscloud/ping HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nurl=x", " 400 "},
	} {
		got := raw(t, r.base, c.send)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: answered %.300q, want %q in it", name, got, c.want)
		}
	}
	counts, err := r.app.Hub().Counts(t.Context())
	if err != nil || counts.Topics != 0 || counts.Subscriptions != 0 {
		t.Errorf("something was half applied: %+v, %v", counts, err)
	}
}

func TestAFloodOfIdleConnectionsLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	addr := strings.TrimPrefix(r.base, "http://")
	refused := 0
	var held []net.Conn
	defer func() {
		for _, c := range held {
			c.Close()
		}
	}()
	for range 4000 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		if len(held)%100 != 0 {
			continue
		}
		// The newest one: is it told to come back?
		if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); err == nil && strings.Contains(line, "503") {
			refused++
			break
		}
	}
	if refused == 0 {
		t.Fatal("one address could open 4,000 connections")
	}
	other := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, a string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 77)}}
		return d.DialContext(ctx, network, a)
	}}}
	res, err := other.Get(r.base + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("another address was answered %d during the flood", res.StatusCode)
	}
}

func TestAHeadThatNeverEndsIsCutOff(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	// raw gives up after 20 s with nothing, the server cuts after 5.
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /rsscloud/ping HTTP/1.1\r\nHost: x\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("the connection was not closed: %v", err)
	}
}
