package xmlsafe

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func got[T any](v T, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

func TestScalarValuesAreParsedOrRejected(t *testing.T) {
	t.Parallel()
	when := time.Date(1998, 7, 17, 14, 8, 55, 0, time.UTC)
	for name, row := range map[string]struct{ got, want any }{
		"int":                {got(ParseInt("-9223372036854775808")), int64(math.MinInt64)},
		"int too large":      {got(ParseInt("9223372036854775808")), nil},
		"int with point":     {got(ParseInt("1.0")), nil},
		"int in hexadecimal": {got(ParseInt("0x1")), nil},
		"no int":             {got(ParseInt("")), nil},
		"true":               {got(ParseBool("True")), true},
		"0":                  {got(ParseBool("0")), false},
		"no bool":            {got(ParseBool("yes")), nil},
		"double":             {got(ParseDouble("-1.5e3")), -1500.0},
		"double too large":   {got(ParseDouble("1e999")), nil},
		"infinity":           {got(ParseDouble("Infinity")), nil},
		"hexadecimal double": {got(ParseDouble("0x1p3")), nil},
		"no double":          {got(ParseDouble("")), nil},
		"base64":             {got(ParseBase64(" Y\nQ= =")), []byte("a")},
		"base64 unpadded":    {got(ParseBase64("YQ")), []byte("a")},
		"padding only":       {got(ParseBase64("===")), nil},
		"no base64":          {got(ParseBase64("Y*==")), nil},
		"basic time":         {got(ParseTime("19980717T14:08:55")), when},
		"compact time":       {got(ParseTime("19980717T140855Z")), when},
		"extended time":      {got(ParseTime("1998-07-17T16:08:55.999+02:00")), when},
		"comma":              {got(ParseTime("1998-07-17 14:08:55,5")), when},
		"empty fraction":     {got(ParseTime("1998-07-17T14:08:55.")), nil},
		"no time":            {got(ParseTime("1998-07-17")), nil},
		"no day":             {got(ParseTime("19980732T14:08:55")), nil},
		"before the years":   {got(ParseTime("00000101T00:00:00+0100")), nil},
		"after the years":    {got(ParseTime("99991231T23:59:59-0100")), nil},
		"string of number":   {got(AsString(int64(-1))), "-1"},
		"string of bytes":    {got(AsString([]byte("é"))), "é"},
		"string of noise":    {got(AsString([]byte{0xff})), nil},
		"string of nil":      {got(AsString(nil)), nil},
		"int of string":      {got(AsInt(" 80 ")), int64(80)},
		"int of double":      {got(AsInt(80.0)), int64(80)},
		"int of fraction":    {got(AsInt(80.5)), nil},
		"int of huge double": {got(AsInt(1e300)), nil},
		"int of NaN":         {got(AsInt(math.NaN())), nil},
		"bool of int":        {got(AsBool(int64(1))), true},
		"bool of two":        {got(AsBool(int64(2))), nil},
		"bool of string":     {got(AsBool("FALSE")), false},
		"bool of nil":        {got(AsBool(nil)), nil},
		"charset":            {Charset("text/xml; charset=\"ISO-8859-1\""), "ISO-8859-1"},
		"unknown charset":    {Charset("text/xml; charset=x-none"), ""},
		"broken type":        {Charset(";;"), ""},
	} {
		if diff := cmp.Diff(row.want, row.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
