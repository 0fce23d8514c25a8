# Writes a blog like old Perl scripts: calls built as text and sent by HTTP::Tiny.
#
# Usage: metaweblog_client.pl BASE-URL PASSWORD
use strict;
use warnings;
use HTTP::Tiny;
use MIME::Base64;

my ($base, $password) = @ARGV;
my $http = HTTP::Tiny->new(agent => 'ecto (perl)', timeout => 20);

sub value {
    my ($v) = @_;
    return "<string>$v</string>" unless ref $v;
    return "<boolean>$$v</boolean>" if ref $v eq 'SCALAR';
    return '<array><data>' . join('', map { '<value>' . value($_) . '</value>' } @$v) . '</data></array>' if ref $v eq 'ARRAY';
    return "<$$v[0]>$$v[1]</$$v[0]>" if ref $v eq 'typed';
    return '<struct>' . join('', map { "<member><name>$_</name><value>" . value($v->{$_}) . '</value></member>' } sort keys %$v) . '</struct>';
}

sub call {
    my ($method, @params) = @_;
    my $body = qq{<?xml version="1.0" encoding="ISO-8859-1"?><methodCall><methodName>$method</methodName><params>}
        . join('', map { '<param><value>' . value($_) . '</value></param>' } @params) . '</params></methodCall>';
    my $r = $http->post("$base/RPC2", { content => $body, headers => { 'Content-Type' => 'text/xml' } });
    die "$method: $r->{status} $r->{content}" unless $r->{status} == 200;
    return $r->{content};
}

sub has {
    my ($what, $got, $want) = @_;
    die "$what: $want is not in $got" unless index($got, $want) >= 0;
}

my @me = ('alice', $password);
my ($yes, $no) = (1, 0);

# "Caf\xe9" in Latin-1, as the document declares.
my $made = call('metaWeblog.newPost', 'alice', @me, {
    title => "Caf\xe9", description => '&lt;p&gt;one&lt;/p&gt;', categories => ["K\xfcche"],
    dateCreated => bless(['dateTime.iso8601', '20040216T14:30:00'], 'typed'),
    enclosure => { url => 'https://a.example/a.mp3', length => '12', type => 'audio/mpeg' },
}, \$yes);
my ($id) = $made =~ m{<value><string>(\d+)</string></value>} or die "no postid in $made";
my $post = call('metaWeblog.getPost', $id, @me);
has('title', $post, "<name>title</name><value><string>Caf\xc3\xa9</string>");
has('text', $post, '<name>description</name><value><string>&lt;p&gt;one&lt;/p&gt;</string>');
has('category', $post, "<string>K\xc3\xbcche</string>");
has('date', $post, '<name>dateCreated</name><value><dateTime.iso8601>20040216T14:30:00</dateTime.iso8601>');
has('enclosure', $post, '<name>length</name><value><int>12</int>');
has('edit', call('metaWeblog.editPost', $id, @me, { title => 'New' }, \$yes), '<boolean>1</boolean>');
has('edited', call('metaWeblog.getPost', $id, @me), '<name>title</name><value><string>New</string>');
has('file', call('metaWeblog.newMediaObject', 'alice', @me, {
    name => 'notes.txt', type => 'text/plain', bits => bless(['base64', encode_base64("some\nnotes\n" x 20)], 'typed'),
}), 'https://hub.example/alice/media/');
has('wrong password', call('metaWeblog.getPost', $id, 'alice', 'x'), '<int>403</int>');
has('no such post', call('metaWeblog.getPost', 4711, @me), '<int>404</int>');
has('delete', call('metaWeblog.deletePost', 'key', $id, @me, \$yes), '<boolean>1</boolean>');
print "ok\n";
