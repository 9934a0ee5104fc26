/** What a message of the network means, and whom it is believed. */

import { type Element, xml } from '@xmpp/client'
import t from 'tap'
import { delivered } from '../../src/platforms/xmpp/delivery.ts'
import { MessageNames } from '../../src/platforms/xmpp/message-identity.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { Opinions, read } from '../../src/platforms/xmpp/reading.ts'

const own = 'me@here.test'
const friend = 'friend@there.test'
const trust = { own, domain: 'here.test', archive: true }
const known = {
  own,
  names: new MessageNames(),
  opinions: new Opinions(),
  sent: (id: string) => id === 'sent-by-me',
  isRoom: (address: string) => address === 'room@there.test',
}

const chat = (...children: Element[]) =>
  xml('message', { type: 'chat', id: 'm1', from: `${friend}/phone`, to: own }, ...children)

const body = (text: string) => xml('body', {}, text)
const stanzaId = (id: string, by: string) => xml('stanza-id', { xmlns: ns.ids, id, by })

function reading(stanza: Element, options = trust) {
  const delivery = delivered(stanza, options)
  return delivery && read(delivery, known)
}

t.test('the place in the own archive names the event, no other id does', async (t) => {
  const message = chat(body('hi'), stanzaId('forged', friend), stanzaId('real', own))
  t.match(reading(message), { sourceKey: /^archive:real:/ })
  t.match(delivered(chat(body('hi'), stanzaId('forged', friend)), trust), { archived: undefined })
})

t.test('a server without an archive does not vouch for places in it', async (t) => {
  const message = chat(body('hi'), stanzaId('made up', own))
  t.match(reading(message, { ...trust, archive: false }), { sourceKey: /^live:/ })
})

t.test('a carbon is believed to the own account alone', async (t) => {
  const copy = (from: string) =>
    xml(
      'message',
      { from, to: own },
      xml(
        'sent',
        ns.carbons,
        xml(
          'forwarded',
          ns.forward,
          xml('message', { id: 'c1', type: 'chat', from: `${own}/phone`, to: friend }, body('yes')),
        ),
      ),
    )
  t.equal(reading(copy(friend)), undefined)
  t.equal(reading(copy(`${own}/another-device`)), undefined)
  const worded = copy(friend)
  worded.append(body('words'))
  t.match(reading(worded), { message: { from: { native: friend }, content: { text: 'words' } } })
  t.match(reading(copy(own)), {
    kind: 'message',
    direction: 'own',
    sourceKey: /^live:/,
    message: { chat: { native: friend }, from: { native: own } },
  })
})

t.test('on a settled stream the own server says no time that is long past', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  const stampedAt = (seconds: number, settledAt: number) => {
    const stamp = new Date(seconds * 1000).toISOString()
    const delay = xml('delay', { xmlns: ns.delay, from: 'here.test', stamp })
    return delivered(chat(body('late'), delay), { ...trust, readUntil: now, settledAt })
  }
  t.ok(Math.abs((stampedAt(now - 5_000, now - 60)?.at ?? 0) - now) < 60)
  t.equal(stampedAt(now - 30, now - 60)?.at, now - 30)
})

t.test('the server writes its own time after one that the sender made up', async (t) => {
  const stamps = ['1999-01-01T00:00:00Z', '2020-01-01T00:00:00Z']
  const delays = stamps.map((stamp) => xml('delay', { xmlns: ns.delay, from: 'here.test', stamp }))
  t.equal(reading(chat(body('late'), ...delays))?.at, 1_577_836_800)
})

t.test('the time is what the own server says, not what the sender says', async (t) => {
  const delay = (from: string) =>
    xml('delay', { xmlns: ns.delay, from, stamp: '2020-01-01T00:00:00Z' })
  t.equal(reading(chat(body('late'), delay('here.test')))?.at, 1_577_836_800)
  t.ok(Math.abs(Number(reading(chat(body('late'), delay(friend)))?.at) - Date.now() / 1000) < 60)
})

t.test('no message is of the future, whoever says so', async (t) => {
  const delay = xml('delay', { xmlns: ns.delay, from: 'here.test', stamp: '9999-01-01T00:00:00Z' })
  t.ok(Number(reading(chat(body('early'), delay))?.at) <= Date.now() / 1000)
})

t.test('whose address cannot be read is not taken for the account', async (t) => {
  const from = (jid: string | undefined) =>
    xml('message', { type: 'chat', id: 'm1', from: jid, to: own }, body('hi'))
  t.equal(reading(from('eve@..')), undefined)
  t.match(reading(from('eve@उदाहरण.परीक्षा/phone')), {
    direction: 'incoming',
    message: { from: { native: 'eve@उदाहरण.परीक्षा' }, chat: { native: 'eve@उदाहरण.परीक्षा' } },
  })
  t.match(reading(from(undefined)), { direction: 'own' }, 'a server may leave it out')
})

t.test('an exchange of keys is no message', async (t) => {
  const sealed = (...children: Element[]) =>
    xml('encrypted', 'eu.siacs.conversations.axolotl', ...children)
  t.equal(reading(chat(sealed(xml('header', {})))), undefined)
  t.match(reading(chat(sealed(xml('header', {}), xml('payload', {}, 'x')))), {
    message: { content: { kind: 'unsupported' } },
  })
})

t.test('a retraction in its older form is one', async (t) => {
  const older = xml('retract', { xmlns: 'urn:xmpp:message-retract:0' })
  const fastened = (id?: string) => xml('apply-to', { xmlns: 'urn:xmpp:fasten:0', id }, older)
  const id = '5f0c1d1e-6a8e-4f0e-9d51-7f7f6f0a1b2c'
  t.match(reading(chat(body('I took that back'), fastened(id))), {
    kind: 'deleted',
    direction: 'incoming',
    messages: [id],
  })
  t.match(reading(chat(body('hi'), fastened())), { kind: 'message' }, 'which one it does not say')
  t.equal(reading(chat(fastened('sent-by-me'))), undefined)
})

t.test('a change of what this account wrote is believed to nobody else', async (t) => {
  const replace = (id: string) => chat(body('x'), xml('replace', { xmlns: ns.correction, id }))
  const retract = (id: string) => chat(xml('retract', { xmlns: ns.retraction, id }))
  t.equal(reading(replace('sent-by-me')), undefined)
  t.equal(reading(retract('sent-by-me')), undefined)
  t.match(reading(replace('theirs')), { kind: 'edited', message: { native: 'theirs' } })
  t.match(reading(retract('theirs')), { kind: 'deleted', chat: friend, messages: ['theirs'] })
})

t.test('what is said for older clients only is left out, counted in code points', async (t) => {
  const range = xml('body', { start: 0, end: 5 })
  const fallback = xml('fallback', { xmlns: ns.fallback, for: ns.reply }, range)
  const reply = xml('reply', { xmlns: ns.reply, id: 'q1' })
  t.match(reading(chat(body('> 👋 \nyes 👋'), reply, fallback)), {
    message: { content: { text: 'yes 👋' }, replyTo: { native: 'q1' }, quote: { text: '👋' } },
  })
  const unknown = xml('fallback', { xmlns: ns.fallback, for: 'urn:example:news' })
  t.match(reading(chat(body('all of it'), unknown)), {
    message: { content: { text: 'all of it' } },
  })
})

t.test('of very many parts for older clients only some are left out', async (t) => {
  // Each is looked for at each place: all of them would take minutes.
  const range = xml('body', { start: 1, end: 2 })
  const message = chat(body(`ab${'c'.repeat(300_000)}`))
  for (let count = 0; count < 50_000; count++) {
    message.append(xml('fallback', { xmlns: ns.fallback, for: ns.reply }, range))
  }
  t.match(reading(message), { message: { content: { text: /^ac+$/ } } })
})

t.test('the origin of what is passed on is no more than a claim', async (t) => {
  const stamp = '2020-01-01T00:00:00Z'
  const forwarded = xml(
    'forwarded',
    ns.forward,
    xml('delay', { xmlns: ns.delay, stamp }),
    xml('message', { from: 'ada@there.test/home' }, body('first words')),
  )
  t.match(reading(chat(body('first words'), forwarded)), {
    direction: 'incoming',
    message: { forward: { from: 'hidden', name: 'ada', at: 1_577_836_800 } },
  })
  const sentAt = (at: number) => ({ message: { forward: { name: 'ada', at } } })
  const delay = forwarded.getChild('delay')!
  delay.attrs.stamp = '-271821-04-20T00:00:00Z'
  t.match(reading(chat(body('first words'), forwarded)), sentAt(0))
  delay.attrs.stamp = '+275760-09-13T00:00:00Z'
  t.notMatch(reading(chat(body('first words'), forwarded)), sentAt(8_640_000_000_000))
})

t.test('a shared link is the file behind it', async (t) => {
  const link = 'https://files.there.test/a/b%20c.jpg'
  const shared = (...more: Element[]) =>
    reading(chat(...more, xml('x', ns.outOfBand, xml('url', {}, link))))
  t.match(shared(body(link)), {
    message: {
      content: {
        kind: 'media',
        media: { kind: 'photo', file: { native: link }, name: 'b c.jpg' },
        caption: { text: '' },
      },
    },
  })
  t.match(shared(body(`look ${link}`)), { message: { content: { caption: { text: 'look' } } } })
  const local = xml('x', ns.outOfBand, xml('url', {}, 'file:///etc/passwd'))
  t.match(reading(chat(body('no file'), local)), { message: { content: { text: 'no file' } } })
})

t.test('an encrypted message is told as such, without its apology', async (t) => {
  const encryption = xml('encryption', { xmlns: ns.encryption, name: 'OMEMO' })
  t.match(reading(chat(body('I sent you an encrypted message'), encryption)), {
    message: { content: { kind: 'unsupported', label: 'OMEMO' } },
  })
})

t.test('a whisper is a chat of its own with somebody in a known room', async (t) => {
  const whispered = (from: string) =>
    xml('message', { type: 'chat', id: 'w1', from, to: own }, body('psst'), xml('x', ns.mucUser))
  t.match(reading(whispered('room@there.test/ada')), {
    message: {
      chat: { native: 'room@there.test/ada', surface: 'private', firstName: 'ada' },
      from: { native: 'room@there.test/ada', firstName: 'ada' },
    },
  })
  t.equal(reading(whispered('other@there.test/ada')), undefined)
})

t.test('an invitation is no message', async (t) => {
  const conference = xml('x', { xmlns: ns.conference, jid: 'room@there.test' })
  t.equal(reading(chat(body('come in'), conference)), undefined)
})

t.test('what is no message is no event', async (t) => {
  t.equal(reading(chat(xml('composing', ns.chatStates))), undefined)
  t.equal(reading(chat(body('psst'), xml('x', ns.mucUser))), undefined)
  t.equal(reading(xml('message', { type: 'groupchat', from: 'room@x/y' }, body('hi'))), undefined)
  t.equal(reading(xml('message', { type: 'headline', from: friend }, body('hi'))), undefined)
})
