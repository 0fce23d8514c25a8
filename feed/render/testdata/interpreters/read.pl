# Prints what Perl reads in each file of a folder, one JSON object a line.
use strict;
use warnings FATAL => 'all';
use JSON::PP;
use Storable;

my $json = JSON::PP->new->ascii;
for my $file (glob "$ARGV[0]/*.pl $ARGV[0]/*.sto") {
    my $data;
    if ($file =~ /\.pl$/) {
        $data = do $file;
        die "$file: ", $@ || $! unless ref $data;
    } else {
        $data = Storable::retrieve($file);
        open my $in, '<:raw', $file or die $!;
        my $bytes = do { local $/; <$in> };
        my $thawed = Storable::thaw(substr $bytes, 4);
        die "$file: thaw and retrieve differ" if $json->canonical->encode($thawed) ne $json->canonical->encode($data);
    }
    (my $name = $file) =~ s{.*/}{};
    print $json->encode({ file => $name, data => $data }), "\n";
}
