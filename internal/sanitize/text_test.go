package sanitize

import "testing"

func TestTextIsTheWordsAlone(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "a", " a  b\n": "a b", "a b": "a b", "é": "é", " ": "",
		"<p>a</p><p>b</p>":                           "a b",
		"<b>a</b>b<i>c</i>":                          "abc",
		"a<br>b<hr>c<wbr>d":                          "a b cd",
		"a &amp; b &lt;c&gt; &eacute;&nbsp;d":        "a & b <c> é d",
		"<ul><li>a<li>b</ul>":                        "a b",
		"<td>a</td><td>b</td>":                       "a b",
		"a<script>b</script>c<style>d</style>e":      "a c e",
		"a<script/>b":                                "a b",
		"a<!-- b -->c":                               "ac",
		"<title>a</title>b":                          "a b",
		"a<noscript><p>b</p></noscript>c":            "a b c",
		"1 < 2":                                      "1 < 2",
		"a<img alt=b>c":                              "a c",
		"a<iframe>b</iframe><template>c</template>d": "a b d",
		"a<b": "a",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
