/** What is found in a plain text, and what only looks alike. */
import t from 'tap'
import { detectEntities } from '../../../src/bot-api/entities/detect.ts'
import { busyMs } from '../../support/busy.ts'
import { type Shown, showEntities } from './outcome.ts'

const letters = (count: number) => 'a'.repeat(count)
const cases: [text: string, entities: Shown[]][] = [
  [
    'hi @durov, @gif',
    [
      ['mention', '@durov'],
      ['mention', '@gif'],
    ],
  ],
  ['@abc a@durov @дуров @durovя', []],
  [`@${letters(32)} @${letters(33)}`, [['mention', `@${letters(32)}`]]],
  ['/start x', [['bot_command', '/start']]],
  ['/start@my_bot', [['bot_command', '/start@my_bot']]],
  ['a/start //start </b> /start@ab /a/b', []],
  ['👍/go', [['bot_command', '/go']]],
  [
    '#tag #тег_1 #سلام',
    [
      ['hashtag', '#tag'],
      ['hashtag', '#тег_1'],
      ['hashtag', '#سلام'],
    ],
  ],
  ['#123 a#tag #a#b #', []],
  ['#news@channel', [['hashtag', '#news@channel']]],
  [`#${letters(300)}`, [['hashtag', `#${letters(256)}`]]],
  [
    '$USD $1INCH $TON@chat',
    [
      ['cashtag', '$USD'],
      ['cashtag', '$1INCH'],
      ['cashtag', '$TON@chat'],
    ],
  ],
  ['$usd $USDa $$USD $TOOLONGXX', []],
  ['see http://a.bc.', [['url', 'http://a.bc']]],
  [
    '(telegram.org) www.пример.рф',
    [
      ['url', 'telegram.org'],
      ['url', 'www.пример.рф'],
    ],
  ],
  [
    'a.org/x_(y)), b.org?q=1!',
    [
      ['url', 'a.org/x_(y)'],
      ['url', 'b.org?q=1'],
    ],
  ],
  [
    'HTTPS://A.BC:80/c ftp://a.bc',
    [
      ['url', 'HTTPS://A.BC:80/c'],
      ['url', 'ftp://a.bc'],
    ],
  ],
  ['http://user:pw@a.com/', [['url', 'http://user:pw@a.com/']]],
  [
    '1.2.3.4 1.2.3.256 1.2 end.So a.ORG',
    [
      ['url', '1.2.3.4'],
      ['url', 'a.ORG'],
    ],
  ],
  ['sftp://a.com file.txt2 a_b.com x..com a-.com', []],
  [
    'tg://resolve?domain=x. ton://a',
    [
      ['url', 'tg://resolve?domain=x'],
      ['url', 'ton://a'],
    ],
  ],
  [
    'me@a.org, mailto:b.c@e.co.uk',
    [
      ['email', 'me@a.org'],
      ['email', 'b.c@e.co.uk'],
    ],
  ],
  ['http://a.org/@durov#tag', [['url', 'http://a.org/@durov#tag']]],
  [
    '+1-212-555-0123 or +989121234567',
    [
      ['phone_number', '+1-212-555-0123'],
      ['phone_number', '+989121234567'],
    ],
  ],
  ['12125550123 +12 a+12125550123 +1234567890123456', []],
]

for (const [text, entities] of cases) {
  t.test(`${text.slice(0, 60)} holds ${entities.length} entities`, async (t) => {
    t.strictSame(showEntities(text, detectEntities(text)), entities)
  })
}

t.test('texts made to be slow to read are read in a moment', async (t) => {
  const marks = ['.', 'a.', '@a.', 'a@@.', 'tg://a/', 'http://', 'a.b/', '#a', 'a:', '+1-', '$A@']
  const parts = [...marks, '.?', '?.', 'a.?', './', 'tg://a?', '/a@']
  for (const part of parts) {
    const took = await busyMs(() => detectEntities(part.repeat(65_536 / part.length)))
    t.ok(took < 2_000, `${part}: ${took} ms`)
  }
})
