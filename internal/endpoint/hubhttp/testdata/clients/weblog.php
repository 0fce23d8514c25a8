<?php
// Calls the REST endpoints like the HTTP client of a blog: a body made by
// http_build_query, sent as application/x-www-form-urlencoded by HTTP/1.0 and 1.1.
//
// Usage: weblog.php BASE-URL

$base = $argv[1];
$feed = 'http://feeds.example/php.xml';

function post($url, $body, $version, $headers = []) {
	$context = stream_context_create(['http' => [
		'method' => 'POST',
		'protocol_version' => $version,
		'ignore_errors' => true,
		'timeout' => 20,
		'user_agent' => 'WordPress/6.5; http://weblog.example',
		'header' => array_merge([
			'Content-Type: application/x-www-form-urlencoded',
			'Accept: */*',
			'Connection: close',
		], $headers),
		'content' => $body,
	]]);
	$answer = file_get_contents($url, false, $context);
	return [$http_response_header[0], $answer];
}

function expect($what, $got, $want) {
	if (strpos($got, $want) === false) {
		fwrite(STDERR, "$what: $want is not in $got\n");
		exit(1);
	}
}

foreach ([1.0, 1.1] as $version) {
	[$status, $answer] = post("$base/ping", http_build_query(['url' => $feed]), $version);
	expect('ping', $status, ' 200 ');
	expect('ping', $answer, '<result success="true" msg="Thanks for the ping."');
	preg_match('/success=["\']([^"\']*)/', $answer, $m);
	expect('matched', $m[1], 'true');

	[$status, $answer] = post("$base/rsscloud/pleaseNotify", http_build_query([
		'notifyProcedure' => '',
		'port' => 80,
		'path' => '/?rsscloud=notify',
		'protocol' => 'http-post',
		'url1' => $feed,
	]), $version);
	expect('pleaseNotify', $status, ' 200 ');
	expect('pleaseNotify', $answer, '<notifyResult success="true"');

	[, $answer] = post("$base/pleaseNotify", http_build_query(['url1' => $feed]), $version);
	expect('missing fields', $answer, 'success="false"');
}
