# generated.pl OPENAPI URL TOKEN TOKEN: a story of ada and bob, with a class that OpenAPI::Client generates from the
# document of a hub. Prints what it found.
use strict; use warnings;
use Mojo::JSON qw(encode_json true);
use OpenAPI::Client;
my ($file, $url, $ada, $bob) = @ARGV;
my $client = OpenAPI::Client->new("file://$file", base_url => $url);
my $token;
$client->ua->on(start => sub { $_[1]->req->headers->authorization("Bearer $token") });
my %found;
sub act {
  my ($name, $operation, $params, $body) = @_;
  $token = $name eq 'ada' ? $ada : $bob;
  my $tx = $client->$operation({mailbox => $name, %$params}, json => $body);
  # It checks what it sends, and says what the document does not allow.
  die "$operation: " . $tx->res->body if $tx->res->json->{errors};
  return $tx->res->json;
}
my $sent = act('ada', 'send', {}, {to => 'bob', subject => 'made by machine', body => 'Which port?', awaitingResponse => true});
$found{inbox} = [map { $_->{id} eq $sent->{id} } @{act('bob', 'inbox', {}, {unread => true})->{messages}}];
$found{read} = act('bob', 'read', {}, {id => $sent->{id}})->{state};
act('bob', 'reply', {}, {id => $sent->{id}, body => '7337'});
$found{answer} = act('ada', 'wait', {}, {replyTo => $sent->{id}, timeoutMs => 50000})->{message}{body};
$found{done} = act('bob', 'done', {}, {id => $sent->{id}})->{state};
$token = $ada;
$found{threads} = $client->getThreads({agent => 'bob', limit => 5})->res->json->{threads}[0]{subject};
$found{refused} = act('bob', 'read', {}, {id => 'ffffffff'})->{error}{code};
# The class knows the document: what it does not allow is not sent.
my $bad = $client->send({mailbox => 'ada'}, json => {to => 'bob', subject => [1]});
$found{bad} = $bad->res->json->{errors}[0]{path};
print encode_json(\%found);
