<?php
return [
  'title' => 'Ada\'s weblog',
  'link' => 'http://example.org/',
  'description' => 'Bread, butter & "feeds"',
  'description_html' => 'Bread, <em>butter</em> & "feeds"',
  'date' => '2026-11-20T08:30:00Z',
  'date_unix' => 1795163400,
  'image' => 'http://example.org/logo.png',
  'self' => 'http://example.org/rss.xml',
  'language' => 'en',
  'updated' => '2026-11-20T08:30:00Z',
  'updated_unix' => 1795163400,
  'image_details' => [
    'url' => 'http://example.org/logo.png',
    'title' => 'Logo',
    'width' => 88
  ],
  'authors' => [
    [
      'name' => 'Ada',
      'email' => 'ada@example.org'
    ]
  ],
  'ttl' => '60',
  'hubs' => [
    [
      'type' => 'WebSub',
      'url' => 'http://hub.example/'
    ]
  ],
  'clouds' => [
    [
      'domain' => 'cloud.example',
      'port' => '5337',
      'path' => '/rsscloud/pleaseNotify',
      'protocol' => 'http-post'
    ]
  ],
  'items' => [
    [
      'title' => 'First: naïve ☕',
      'link' => 'http://example.org/1',
      'body' => '<p>Hello, <a href="http://example.com/">world</a>.</p>
<p>€ 5</p>',
      'body_type' => 'text/html',
      'date' => '2026-11-20T08:30:00Z',
      'date_unix' => 1795163400,
      'guid' => 'http://example.org/1',
      'author' => 'Bo',
      'author_url' => 'http://example.org/bo',
      'id' => 'http://example.org/1',
      'permalink' => true,
      'published' => '2026-11-20T08:30:00Z',
      'published_unix' => 1795163400,
      'authors' => [
        [
          'name' => 'Bo',
          'url' => 'http://example.org/bo'
        ]
      ],
      'categories' => [
        [
          'term' => 'baking'
        ],
        [
          'term' => 'news',
          'scheme' => 'http://example.org/subjects'
        ]
      ],
      'enclosures' => [
        [
          'url' => 'http://example.org/1.mp3',
          'type' => 'audio/mpeg',
          'length' => 5000000000,
          'duration' => 61.5
        ]
      ],
      'items' => [
        [
          'title' => 'An answer',
          'link' => '',
          'body' => '',
          'body_type' => '',
          'date' => '',
          'guid' => 'urn:uuid:eca19b0f-e77c-52eb-8e7b-fbfde6d3570b',
          'author' => 'Ada',
          'author_url' => 'http://example.org/',
          'id' => '1-1'
        ]
      ]
    ],
    [
      'title' => '',
      'link' => '',
      'body' => 'Tabs	and
lines, "quotes"; \\ and $x @y #{z} ?'.'>',
      'body_type' => 'text/plain',
      'date' => '',
      'guid' => 'urn:uuid:4ff8977f-9ae4-58b5-b9b5-7012ca042825',
      'author' => 'Ada',
      'author_url' => 'http://example.org/',
      'id' => '2'
    ]
  ]
];
