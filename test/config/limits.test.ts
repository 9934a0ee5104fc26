/** The limits that the environment sets, and how a bad value is told. */
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'

t.test('without settings the limits are the documented ones', async (t) => {
  t.strictSame(readConfig({}).limits, {
    callsPerUser: { perSecond: 10, burst: 600 },
    wrongKeys: { perMinute: 20, perHour: 600 },
    callsInFlight: 1_000,
    callsPerKey: { perSecond: 200, burst: 2_000 },
    keys: { perCredential: 100, perUser: 10_000 },
    eventStreamsPerUser: 50,
    connections: { most: 15_000, perAddress: 5_000 },
    links: {
      perTarget: { count: 10, seconds: 3_600 },
      perUser: { count: 60, seconds: 3_600 },
      inAll: { count: 1_000, seconds: 3_600 },
    },
    codeLength: undefined,
    otp: { lifetime: 300, triesPerCode: 5 },
  })
})

t.test('each limit has a variable', async (t) => {
  const { limits } = readConfig({
    USER_CALLS_PER_MINUTE: '120',
    WRONG_KEYS_PER_MINUTE: '3',
    WRONG_KEYS_PER_HOUR: '4',
    CALLS_IN_FLIGHT: '7',
    CALL_RATE: '0.5',
    CALL_BURST: '8',
    API_KEYS_PER_ACCOUNT: '9',
    API_KEYS_PER_USER: '10',
    EVENT_STREAMS_PER_USER: '16',
    MAX_CONNECTIONS: '17',
    MAX_CONNECTIONS_PER_ADDRESS: '18',
    LINK_STARTS_PER_TARGET: '21',
    LINK_STARTS_PER_USER: '22',
    LINK_STARTS_IN_ALL: '23',
    OTP_LENGTH: '8',
    OTP_LIFETIME: '120',
    OTP_TRIES: '3',
    OTP_RESEND_DELAYS: '5, 10,20',
    OTP_SENDS_PER_PHONE: '11',
    OTP_SENDS_PER_ADDRESS: '12',
    OTP_TRIES_PER_ADDRESS: '13',
    OTP_SENDS_PER_COUNTRY: '14',
    OTP_SENDS_IN_ALL: '15',
  })
  const [hour, day] = [3_600, 86_400]
  t.strictSame(limits, {
    callsPerUser: { perSecond: 2, burst: 120 },
    wrongKeys: { perMinute: 3, perHour: 4 },
    callsInFlight: 7,
    callsPerKey: { perSecond: 0.5, burst: 8 },
    keys: { perCredential: 9, perUser: 10 },
    eventStreamsPerUser: 16,
    connections: { most: 17, perAddress: 18 },
    links: {
      perTarget: { count: 21, seconds: hour },
      perUser: { count: 22, seconds: hour },
      inAll: { count: 23, seconds: hour },
    },
    codeLength: 8,
    otp: {
      lifetime: 120,
      triesPerCode: 3,
      resendDelays: [5, 10, 20],
      sendsPerPhone: { count: 11, seconds: day },
      sendsPerNetwork: { count: 12, seconds: hour },
      triesPerNetwork: { count: 13, seconds: hour },
      sendsPerCountry: { count: 14, seconds: hour },
      sendsInAll: { count: 15, seconds: hour },
    },
  })
})

t.test('what a variable must be is told in words', async (t) => {
  const levels = 'fatal, error, warn, info, debug, trace, silent'
  const texts: [string, string, string][] = [
    ['LOG_LEVEL', 'loud', `must be one of ${levels}`],
    ['PORT', 'x', 'must be an integer'],
    ['PORT', '65536', 'must be at most 65535'],
    ['PORT', '80.5', 'must be an integer'],
    ['METRICS_TOKEN', 'short', 'must not have fewer than 16 characters'],
    ['SANDBOX', 'constructor', 'must be true or false'],
    ['OTP_LENGTH', '5', 'must be at least 6'],
    ['SEND_RATE', '0', 'must be more than 0'],
    ['SANDBOX', 'perhaps', 'must be true or false'],
    ['BASE_URL', 'x', 'must be an address without a path, such as https://api.example.org'],
    ['OTP_RESEND_DELAYS', 'x', 'must be seconds with commas between, such as 60,120,300'],
  ]
  for (const [name, value, problem] of texts) {
    const message = `configuration: ${name} ${problem}`
    t.throws(() => readConfig({ [name]: value }), { message })
  }
  const both = { LOG_LEVEL: 'loud', SEND_RATE: '0' }
  const message = `configuration: LOG_LEVEL must be one of ${levels}; SEND_RATE must be more than 0`
  t.throws(() => readConfig(both), { message })
})

t.test('true and false may be written as people do', async (t) => {
  const sandbox = (SANDBOX: string) => readConfig({ SANDBOX }).sandbox
  for (const text of ['true', 'True', '1']) t.equal(sandbox(text), true, text)
  for (const text of ['false', 'FALSE', '0']) t.equal(sandbox(text), false, text)
})
