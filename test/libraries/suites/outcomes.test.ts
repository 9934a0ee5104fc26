/** What became of other people's tests, as their runners report it. */
import t from 'tap'
import { leftOutOf } from './left-out.ts'
import { outcomesIn } from './outcomes.ts'

const verdictsOf = (text: string) =>
  outcomesIn(text).map(({ name, verdict, reason }) => [name, verdict, reason])

t.test('a test is named without its package or file', async (t) => {
  const text = `
    <testcase classname="com.pengrad.telegrambot.TelegramBotTest" name="getMe" time="1"/>
    <testcase classname="tests.test_bot.TestBot" name="test_me[1.5]" time="1"></testcase>
    <testcase classname="test/getMe.test.ts" name="getMe &gt; success &gt; says &quot;me&quot;"></testcase>
    <testcase classname=".getMe()" name="should tell of version 10.3" time="1"></testcase>
    <testcase classname="TelegramBot #getMe" name="should tell&#10;me&#x27;s name" time="1"/>`
  t.same(verdictsOf(text), [
    ['TelegramBotTest getMe', 'passed', ''],
    ['TestBot test_me[1.5]', 'passed', ''],
    ['getMe success says "me"', 'passed', ''],
    ['.getMe() should tell of version 10.3', 'passed', ''],
    ["TelegramBot #getMe should tell me's name", 'passed', ''],
  ])
})

t.test('a failure tells why, whatever the runner writes it in', async (t) => {
  const text = `
    <testcase classname="A" name="one"><failure message="1 &lt; 2" type="E">at B
      at com.pengrad.telegrambot.TelegramBotTest.one(TelegramBotTest.java:7)</failure></testcase>
    <testcase classname="A" name="two"><failure><![CDATA[2 < 1]]></failure></testcase>
    <testcase classname="A" name="three"><error message="no bot">at C</error></testcase>`
  t.same(verdictsOf(text), [
    [
      'A one',
      'failed',
      '1 < 2 at com.pengrad.telegrambot.TelegramBotTest.one(TelegramBotTest.java:7)',
    ],
    ['A two', 'failed', '2 < 1'],
    ['A three', 'failed', 'no bot'],
  ])
})

t.test('what its authors excuse at a busy server counts as failed', async (t) => {
  const text = `
    <testcase classname="A" name="one"><skipped type="pytest.xfail" message="Flood"/></testcase>
    <testcase classname="A" name="two"><skipped type="pytest.skip" message="no file">a.py</skipped></testcase>
    <testcase classname="A" name="three"><skipped/></testcase>`
  t.same(verdictsOf(text), [
    ['A one', 'failed', 'Flood'],
    ['A two', 'skipped', 'no file'],
    ['A three', 'skipped', ''],
  ])
})

t.test('a line of a list is for one test or for all with a beginning or an end', async (t) => {
  const python = await leftOutOf('python-telegram-bot')
  const one = 'TestDocumentWithRequest test_send_all_args'
  t.ok(python.has(one))
  t.notOk(python.has(`${one}_again`))
  t.ok(python.has('TestHTTP2WithRequest test_http_2_response'))
  t.notOk(python.notAmong([one]).includes(one))
  t.ok(python.notAmong([]).includes(one))
  const effect = await leftOutOf('effect-telegram-api')
  const end = 'authentication errors NotFound when the token segment is empty'
  t.ok(effect.has(`getMe ${end}`))
  t.notOk(effect.has(`getMe ${end} or not`))
  t.same((await leftOutOf('telego')).notAmong([]), [])
})
