package soap_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"

	"cloudburst/protocol/soap"
)

// A service with one method, and a client that calls it.
func Example() {
	h := &soap.Handler{Service: soap.Service{
		Name: "Math", Namespace: "http://example.com/math",
		Methods: []soap.Method{{
			Name:   "add",
			Help:   "Adds two whole numbers.",
			Params: []soap.Def{{Name: "a", Type: "int"}, {Name: "b", Type: "int"}},
			Result: soap.Def{Name: "sum", Type: "int"},
			Do: func(_ context.Context, params []any) (any, error) {
				if len(params) != 2 {
					return nil, fmt.Errorf("%w: add takes two", soap.ErrParams)
				}
				a, okA := soap.Int(params[0])
				b, okB := soap.Int(params[1])
				if !okA || !okB {
					return nil, fmt.Errorf("%w: add takes numbers", soap.ErrParams)
				}
				return a + b, nil
			},
		}},
	}}
	srv := httptest.NewServer(h)
	defer srv.Close()

	c := &soap.Client{URL: srv.URL, Namespace: "http://example.com/math"}
	sum, err := c.Call(context.Background(), "add", soap.Param{Name: "b", Value: 3}, soap.Param{Name: "a", Value: 2})
	fmt.Println(sum, err)

	_, err = c.Call(context.Background(), "add", soap.Param{Name: "a", Value: 2})
	var fault *soap.Fault
	if errors.As(err, &fault) {
		fmt.Println(fault.Code, "-", fault.String)
	}
	// Output:
	// 5 <nil>
	// Client - wrong parameters: add takes two
}

func ExampleParse() {
	c, err := soap.Parse(strings.NewReader(`<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">
		<s:Body>
			<ping xmlns="http://example.com/cloud"><url>http://example.com/rss.xml</url></ping>
		</s:Body>
	</s:Envelope>`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Name, c.Namespace, c.Bind("url")[0])
	// Output:
	// ping http://example.com/cloud http://example.com/rss.xml
}

func ExampleFault_Marshal() {
	f := &soap.Fault{Code: soap.CodeClient, String: "The feed could not be read."}
	fmt.Printf("%s", f.Marshal(soap.V11))
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><SOAP-ENV:Body><SOAP-ENV:Fault><faultcode>SOAP-ENV:Client</faultcode><faultstring>The feed could not be read.</faultstring></SOAP-ENV:Fault></SOAP-ENV:Body></SOAP-ENV:Envelope>
}
