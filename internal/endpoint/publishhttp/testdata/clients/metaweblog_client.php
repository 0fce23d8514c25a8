<?php
// Writes a blog like PHP programs: a text body sent by a stream, and a response parsed
// by SimpleXML.
//
// Usage: metaweblog_client.php BASE-URL PASSWORD

[$_, $base, $password] = $argv;

function value($v) {
	if (is_bool($v)) return '<boolean>' . (int)$v . '</boolean>';
	if (is_int($v)) return "<int>$v</int>";
	if ($v instanceof DateTimeInterface) return '<dateTime.iso8601>' . $v->format('Ymd\TH:i:s') . '</dateTime.iso8601>';
	if (is_string($v)) return '<string>' . htmlspecialchars($v, ENT_XML1) . '</string>';
	$out = '';
	if (array_is_list($v)) {
		foreach ($v as $item) $out .= '<value>' . value($item) . '</value>';
		return "<array><data>$out</data></array>";
	}
	foreach ($v as $name => $item) $out .= "<member><name>$name</name><value>" . value($item) . '</value></member>';
	return "<struct>$out</struct>";
}

function read(SimpleXMLElement $value) {
	foreach ($value->children() as $type => $v) {
		switch ($type) {
			case 'struct':
				$out = [];
				foreach ($v->member as $m) $out[(string)$m->name] = read($m->value);
				return $out;
			case 'array':
				$out = [];
				foreach ($v->data->value as $item) $out[] = read($item);
				return $out;
			case 'int': return (int)$v;
			case 'boolean': return (string)$v === '1';
			default: return (string)$v;
		}
	}
	return (string)$value;
}

function call($method, ...$params) {
	global $base;
	$body = "<?xml version=\"1.0\"?>\n<methodCall><methodName>$method</methodName><params>";
	foreach ($params as $p) $body .= '<param><value>' . value($p) . '</value></param>';
	$answer = file_get_contents("$base/RPC2", false, stream_context_create(['http' => [
		'method' => 'POST', 'ignore_errors' => true, 'timeout' => 20, 'user_agent' => 'Incutio XML-RPC',
		'header' => ['Content-Type: text/xml', 'Connection: close'], 'content' => $body . '</params></methodCall>',
	]]));
	$xml = new SimpleXMLElement($answer);
	return isset($xml->fault) ? read($xml->fault->value) : read($xml->params->param->value);
}

function check($what, $got, $want) {
	if ($got !== $want) {
		fwrite(STDERR, "$what: got " . json_encode($got) . ', want ' . json_encode($want) . "\n");
		exit(1);
	}
}

$blogs = call('blogger.getUsersBlogs', '', 'alice', $password);
check('blogs', $blogs[0]['blogid'], 'alice');
$when = new DateTime('2024-05-06T07:08:09Z');
$id = call('metaWeblog.newPost', 'alice', 'alice', $password, [
	'title' => 'Ein <schöner> Tag & mehr', 'description' => "<p>eins\nzwei</p>", 'categories' => ['Küche', '日本'], 'dateCreated' => $when, 'mt_keywords' => 'a, b',
], true);
$p = call('metaWeblog.getPost', $id, 'alice', $password);
check('title', $p['title'], 'Ein <schöner> Tag & mehr');
check('description', $p['description'], "<p>eins\nzwei</p>");
check('categories', $p['categories'], ['Küche', '日本']);
check('keywords', $p['mt_keywords'], 'a, b');
check('date', $p['dateCreated'], '20240506T07:08:09');
check('edit', call('metaWeblog.editPost', $id, 'alice', $password, ['title' => 'x'] + $p, true), true);
check('again', call('metaWeblog.getPost', $id, 'alice', $password)['categories'], $p['categories']);
check('ids', call('mt.getPostCategories', $id, 'alice', $password)[0]['categoryId'], 'küche');
check('recent', count(call('metaWeblog.getRecentPosts', 'alice', 'alice', $password, 5)), 1);
check('wrong type', call('metaWeblog.newPost', 'alice', 'alice', $password, 'x', true)['faultCode'], -32602);
check('wrong password', call('metaWeblog.getPost', $id, 'alice', 'x')['faultCode'], 403);
check('deleted', call('blogger.deletePost', '', $id, 'alice', $password, true), true);
check('is gone', call('metaWeblog.getPost', $id, 'alice', $password)['faultCode'], 404);
echo "ok\n";
