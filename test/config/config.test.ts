/** The environment: what holds without it, and what is refused, by name and without the value. */
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'

const canary = 'canary-7f3a'
const smtp = {
  OTP_SENDER: 'smtp',
  SMTP_URL: 'smtp://mail.test',
  OTP_FROM: 'chapar@mail.test',
  OTP_TO_TEMPLATE: '{digits}@mail.test',
}
const http = { OTP_SENDER: 'http', OTP_HTTP_URL: 'https://sms.test/{phone}' }

t.test('nothing needs to be set', async (t) => {
  t.match(readConfig({}), {
    production: false,
    host: '127.0.0.1',
    port: 8080,
    baseUrls: ['http://localhost:8080', 'http://localhost:8080'],
    panelUrls: ['http://localhost:8080', 'http://localhost:8080'],
    dataDir: 'data',
    databaseUrl: undefined,
    redisUrl: undefined,
    keyFile: 'data/keys',
    logLevel: 'info',
    metrics: { token: undefined, port: undefined },
    trustProxy: false,
    sandbox: true,
    otpSender: { kind: 'console' },
  })
})

t.test('the default limits are the documented ones', async (t) => {
  const { drainMs, rates, retention, startBudget, timing } = readConfig({})
  t.strictSame(rates, {
    key: { perSecond: 30, burst: 60 },
    chat: { perSecond: 1, burst: 20 },
  })
  t.strictSame(retention, {
    updateDays: 7,
    updates: 1_000_000,
    messageDays: 365,
    requestDays: 30,
    requestSample: 1,
    deliveryDays: 30,
    bodyDays: 3,
  })
  t.equal(startBudget, 20)
  t.equal(drainMs, 5_000)
  t.strictSame(timing, {
    probeEvery: 60_000,
    probeAgain: 15_000,
    probeTakes: 10_000,
    performTakes: 30_000,
    signOutTakes: 10_000,
    holdFor: 5_000,
    passivateAfter: 300_000,
  })
})

t.test('an empty variable counts as unset', async (t) => {
  const names = ['PORT', 'BASE_URL', 'DATABASE_URL', 'REDIS_URL', 'TRUST_PROXY', 'SANDBOX']
  const more = ['OTP_SENDER', 'OTP_HTTP_METHOD', 'SEND_RATE', 'LOG_LEVEL', 'KEY_FILE', 'NODE_ENV']
  const empty = Object.fromEntries([...names, ...more].map((name) => [name, '']))
  t.strictSame(readConfig(empty), readConfig({}))
  const blank = { PORT: ' ', FILE_QUOTA: ' ', DATABASE_URL: ' ', DATA_DIR: '\t' }
  t.strictSame(readConfig(blank), readConfig({}), 'and so does a blank one, which is no zero')
})

t.test('addresses follow each other where they are not given', async (t) => {
  t.match(readConfig({ PORT: '9000' }), { baseUrls: ['http://localhost:9000', /:9000$/] })
  t.match(readConfig({ BASE_URL: 'https://a.test', INTL_BASE_URL: 'https://b.test' }), {
    baseUrls: ['https://a.test', 'https://b.test'],
    panelUrls: ['https://a.test', 'https://a.test'],
  })
})

t.test('a service that prints its codes listens on this machine only, unless told', async (t) => {
  const host = (env: NodeJS.ProcessEnv) => readConfig(env).host
  t.equal(host({}), '127.0.0.1')
  t.equal(host({ DATABASE_URL: 'postgres://h/d', HOST: ' ' }), '127.0.0.1')
  t.equal(host({ HOST: '0.0.0.0' }), '0.0.0.0')
  t.equal(host(smtp), '0.0.0.0')
  t.equal(host({ ...smtp, NODE_ENV: 'production' }), '0.0.0.0')
})

t.test('addresses of servers that are none are told before anything is reached', async (t) => {
  const refused = (env: NodeJS.ProcessEnv, name: string) =>
    t.throws(() => readConfig(env), { name: 'ConfigurationError', message: new RegExp(name) })
  for (const DATABASE_URL of ['postgres://u:a#b@h/db', 'postgres://u:p@h:abc/db', 'mysql://h/db']) {
    refused({ DATABASE_URL }, 'DATABASE_URL must')
  }
  for (const REDIS_URL of ['redis://:a#b@h:1', 'redis://h/abc', 'redis://h:99999', 'redis://']) {
    refused({ REDIS_URL }, 'REDIS_URL must')
  }
  for (const DATABASE_URL of [
    'postgres://u:p@/db?host=/run',
    'postgresql:///db',
    'postgres://u:p%23@h:1/d',
  ]) {
    t.equal(readConfig({ DATABASE_URL }).databaseUrl, DATABASE_URL)
  }
  for (const REDIS_URL of ['redis://h', 'rediss://u:p%23@h:1/5', 'redis://[::1]:6379/']) {
    t.equal(readConfig({ REDIS_URL }).redisUrl, REDIS_URL)
  }
})

t.test('proxies are addresses and networks', async (t) => {
  const trusted = (list: string) => readConfig({ TRUST_PROXY: list }).trustProxy
  t.strictSame(trusted('10.0.0.0/8, 192.0.2.1,2001:db8::/32,::1'), [
    '10.0.0.0/8',
    '192.0.2.1',
    '2001:db8::/32',
    '::1',
  ])
  const bad = ['loopback', 'true', '10.0.0.0/33', '10.0.0.0/0', '::/129', '10.0.0.1/8/8', '::1,']
  for (const list of [...bad, '10.0.0', '10.0.0.0/', '10.0.0.0/8x', 'fe80::1%eth0']) {
    t.throws(() => trusted(list), { name: 'ConfigurationError', message: /TRUST_PROXY/ }, list)
  }
})

t.test('senders of one-time codes', async (t) => {
  const sender = (env: NodeJS.ProcessEnv) => readConfig(env).otpSender
  t.match(sender(smtp), { kind: 'smtp', url: 'smtp://mail.test', to: '{digits}@mail.test' })
  t.match(sender(http), { kind: 'http', method: 'POST', url: 'https://sms.test/{phone}' })
  const headers = { OTP_HTTP_METHOD: 'GET', OTP_HTTP_HEADERS: '{"x-key":"k"}' }
  t.match(sender({ ...http, ...headers }), { method: 'GET', headers: { 'x-key': 'k' } })
  const kavenegar = {
    OTP_HTTP_PRESET: 'kavenegar',
    KAVENEGAR_API_KEY: 'k',
    KAVENEGAR_TEMPLATE: 't',
  }
  t.match(sender({ OTP_SENDER: 'http', ...kavenegar }), { url: /kavenegar/ })
  t.match(readConfig({ ...smtp, NODE_ENV: 'production' }), { production: true })
  for (const NODE_ENV of ['development', 'test', '']) {
    t.match(readConfig({ NODE_ENV }), { production: false }, NODE_ENV)
  }
})

/** Each with what is set beside it. */
const refused: [string, string, NodeJS.ProcessEnv?][] = [
  ...[
    'PORT',
    'METRICS_PORT',
    'UPDATE_RETENTION',
    'UPDATE_LIMIT',
    'MESSAGE_RETENTION',
    'REQUEST_LOG_RETENTION',
    'LOG_SAMPLE',
  ].map((name): [string, string] => [name, canary]),
  ...['START_BUDGET', 'SEND_RATE', 'SEND_BURST', 'CHAT_RATE', 'CHAT_BURST', 'SANDBOX'].map(
    (name): [string, string] => [name, canary],
  ),
  ...['BASE_URL', 'INTL_BASE_URL', 'PANEL_URL', 'INTL_PANEL_URL', 'DATABASE_URL', 'REDIS_URL'].map(
    (name): [string, string] => [name, canary],
  ),
  ...['PROBE_INTERVAL_MS', 'PROBE_RETRY_MS', 'PROBE_TIMEOUT_MS', 'PLATFORM_TIMEOUT_MS'].map(
    (name): [string, string] => [name, canary],
  ),
  ['PASSIVATE_AFTER_MS', '9'],
  ['PORT', '65536'],
  ['SEND_RATE', '0'],
  ['METRICS_PORT', '9000', { PORT: '9000' }],
  ['UPDATE_LIMIT', '1e30'],
  ['FILE_QUOTA', '1e30'],
  ['FILE_QUOTA_COUNT', '1e30'],
  ['TELEGRAM_API_ID', '1e30', { TELEGRAM_API_HASH: 'a'.repeat(32) }],
  ['TELEGRAM_API_ID', '', { TELEGRAM_API_HASH: 'a'.repeat(32) }],
  ['TELEGRAM_API_HASH', '', { TELEGRAM_API_ID: '1' }],
  ['LOG_LEVEL', canary],
  ['NODE_ENV', canary],
  ['NODE_ENV', 'prod'],
  ['NODE_ENV', 'Production', smtp],
  ['METRICS_TOKEN', canary],
  ['TRUST_PROXY', canary],
  ['BASE_URL', `https://${canary}/path`],
  ['OTP_SENDER', canary],
  ['OTP_SENDER', 'console', { NODE_ENV: 'production' }],
  ['OTP_SENDER', '', { NODE_ENV: 'production' }],
  ['SMTP_URL', canary, smtp],
  ['SMTP_URL', '', smtp],
  ['OTP_FROM', '', smtp],
  ['SMTP_FROM', canary, smtp],
  ['SMTP_URL', '', { SMTP_FROM: 'chapar@mail.test' }],
  ['OTP_HTTP_URL', canary, http],
  ['OTP_HTTP_METHOD', canary, http],
  ['OTP_HTTP_METHOD', 'get', http],
  ['OTP_HTTP_HEADERS', canary, http],
  ['OTP_HTTP_HEADERS', `["${canary}"]`, http],
  ['OTP_HTTP_HEADERS', `{"x-key":{"a":"${canary}"}}`, http],
  ['OTP_HTTP_PRESET', canary, http],
]

for (const [name, value, others] of refused) {
  t.test(`${name} is refused as ${JSON.stringify(value)}, by name`, async (t) => {
    const attempt = () => readConfig({ ...others, [name]: value })
    const message = new RegExp(`^configuration: ${name} .+`)
    const err = t.throws(attempt, { name: 'ConfigurationError', message })
    t.notMatch(`${err instanceof Error && err.stack}`, canary)
    t.notOk(err instanceof Error && err.cause, 'nor a cause that could quote it')
  })
}
