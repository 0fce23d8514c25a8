package sanitize

import "testing"

func attacks(tb testing.TB) []string { return []string{"<script>alert(1)</script>"} }
