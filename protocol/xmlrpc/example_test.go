package xmlrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"

	"cloudburst/protocol/xmlrpc"
)

// A server with one method, and a client that calls it.
func Example() {
	h := &xmlrpc.Handler{Methods: []xmlrpc.Method{{
		Name:      "math.add",
		Help:      "Adds two whole numbers.",
		Signature: [][]string{{"int", "int", "int"}},
		Do: func(_ context.Context, params []any) (any, error) {
			if len(params) != 2 {
				return nil, fmt.Errorf("%w: math.add takes two", xmlrpc.ErrParams)
			}
			a, okA := xmlrpc.Int(params[0])
			b, okB := xmlrpc.Int(params[1])
			if !okA || !okB {
				return nil, fmt.Errorf("%w: math.add takes numbers", xmlrpc.ErrParams)
			}
			return a + b, nil
		},
	}}}
	srv := httptest.NewServer(h)
	defer srv.Close()

	c := &xmlrpc.Client{URL: srv.URL}
	sum, err := c.Call(context.Background(), "math.add", 2, "3")
	fmt.Println(sum, err)

	_, err = c.Call(context.Background(), "math.add", 2)
	var fault *xmlrpc.Fault
	if errors.As(err, &fault) {
		fmt.Println(fault.Code, fault.String)
	}
	// Output:
	// 5 <nil>
	// -32602 wrong parameters: math.add takes two
}

func ExampleCall_WriteTo() {
	c := xmlrpc.Call{Method: "rssCloud.ping", Params: []any{"http://example.com/rss.xml?a=1&b=2"}}
	if _, err := c.WriteTo(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <methodCall><methodName>rssCloud.ping</methodName><params><param><value><string>http://example.com/rss.xml?a=1&amp;b=2</string></value></param></params></methodCall>
}

func ExampleParseCall() {
	c, err := xmlrpc.ParseCall(strings.NewReader(`<?xml version="1.0"?>
		<methodCall>
			<methodName>rssCloud.pleaseNotify</methodName>
			<params>
				<param><value>river.update</value></param>
				<param><value><i4>5337</i4></value></param>
				<param><value><array><data><value>http://example.com/rss.xml</value></data></array></value></param>
			</params>
		</methodCall>`))
	if err != nil {
		fmt.Println(err)
		return
	}
	port, _ := xmlrpc.Int(c.Params[1])
	feeds, _ := xmlrpc.Strings(c.Params[2])
	fmt.Println(c.Method, port, feeds)
	// Output:
	// rssCloud.pleaseNotify 5337 [http://example.com/rss.xml]
}
