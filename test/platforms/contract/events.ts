/** What others do is reported in order, once in the log though reported twice, and never skipped. */
import type { Test } from 'tap'
import type { ContractHarness } from './harness.ts'
import { patience, run, type Store } from './recorder.ts'
import { able, need, scene, sent, words } from './scene.ts'

export async function eventContract(t: Test, harness: ContractHarness) {
  const { updates } = harness.platform.capabilities

  await t.test('a message is reported whole', async (t) => {
    const { peer, store, account } = await scene(t, harness)
    const text = words('سلام 👋')
    await peer.write(text)
    const happening = await store.message(text)
    t.match(happening, {
      direction: 'incoming',
      message: { chat: { native: peer.chat, surface: 'private' }, content: { kind: 'text', text } },
    })
    if (happening.kind !== 'message') throw new Error('not a message')
    t.ok(happening.message.native)
    t.ok(happening.message.from?.firstName)
    t.not(happening.message.from?.native, account.native)
    t.ok(Math.abs(happening.at - Date.now() / 1000) < 60)
  })

  await t.test('an answer names the message it answers', async (t) => {
    const { peer, store } = await scene(t, harness)
    const texts = [words('first'), words('second')]
    const first = await peer.write(texts[0]!)
    const native = nativeOf(await store.message(texts[0]!))
    await peer.write(texts[1]!, { replyTo: first })
    t.match(await store.message(texts[1]!), { message: { replyTo: { native } } })
  })

  if (updates.includes('edited_message')) {
    await t.test('an edit is reported for the same message', async (t) => {
      const { peer, store } = await scene(t, harness)
      const texts = [words('before'), words('after')]
      const message = await peer.write(texts[0]!)
      const native = nativeOf(await store.message(texts[0]!))
      await peer.edit(message, texts[1]!)
      const edited = await store.message(texts[1]!, 'edited')
      t.match(edited, { direction: 'incoming', message: { native } })
      t.ok(edited.kind === 'edited' && edited.message.editedAt)
    })
  }

  if (updates.includes('deleted_messages')) {
    await t.test('a deletion is found', async (t) => {
      const { peer, store } = await scene(t, harness)
      const text = words('gone soon')
      const message = await peer.write(text)
      const native = nativeOf(await store.message(text))
      await peer.delete(message)
      const deleted = await store.until(() =>
        store.happenings.find(({ kind }) => kind === 'deleted'),
      )
      t.match(deleted, { messages: [native] })
      if (deleted.kind === 'deleted') t.ok([undefined, peer.chat].includes(deleted.chat))
    })
  }

  if (updates.includes('message_read')) {
    await t.test('the account learns that its message was read', async (t) => {
      const { first, peer, store } = await scene(t, harness)
      const text = words('to be read')
      const { native } = await sent(first, peer.chat, text)
      await peer.reads!(await peer.sees(text, patience()))
      const receipt = await store.until(() =>
        store.happenings.find((one) => one.kind === 'receipt' && one.state === 'read'),
      )
      t.match(receipt, {
        direction: 'incoming',
        chat: { native: peer.chat, surface: 'private' },
        target: native,
        person: { native: peer.chat },
      })
    })
  }

  await able(t, harness, ['writeElsewhere'], "the account's other devices are own", async (t) => {
    const { account, peer, store } = await scene(t, harness)
    const text = words('from the phone')
    await need(account.writeElsewhere, 'writeElsewhere').call(account, peer, text)
    t.match(await store.message(text), {
      direction: 'own',
      message: { chat: { native: peer.chat }, from: { native: account.native } },
    })
  })

  await t.test("one chat's messages come in the order they were written", async (t) => {
    const { peer, store } = await scene(t, harness)
    const texts = Array.from({ length: 30 }, (_, index) => words(`number ${index}`))
    for (const text of texts) await peer.write(text)
    await store.message(texts.at(-1)!)
    t.strictSame(store.texts(), texts)
  })

  await able(t, harness, ['repeat'], 'reported twice has the same source key', async (t) => {
    const { account, peer, store } = await scene(t, harness)
    await need(account.repeat, 'repeat').call(account)
    const texts = [words('twice'), words('twice too')]
    for (const text of texts) await peer.write(text)
    await store.until(() => (countOf(store, texts) >= 4 ? true : undefined))
    t.strictSame(store.texts(), texts, 'the log has each once')
  })

  await t.test('what could not be committed is reported again', async (t) => {
    const { peer, store, first, reopen } = await scene(t, harness)
    store.failing = 1
    const texts = [words('refused'), words('after it')]
    await peer.write(texts[0]!)
    await store.until(() => (store.failing === 0 ? true : undefined))
    await peer.write(texts[1]!)
    await first.stop()
    t.strictSame(store.texts(), [], 'the session is over after a failed commit')
    await reopen()
    await store.message(texts[1]!)
    t.strictSame(store.texts(), texts)
  })

  await t.test('a crash between commit and acknowledgement repeats nothing', async (t) => {
    const { peer, store, first } = await scene(t, harness)
    const texts = [words('committed'), words('next')]
    await peer.write(texts[0]!)
    await store.message(texts[0]!)
    const before = store.checkpoint
    await first.stop()
    // Written while nobody is there: a network in another process need not wake the next one.
    await peer.write(texts[1]!)
    const second = run(harness.restarted(), store)
    t.teardown(() => second.stop())
    await second.reported('opened')
    await store.message(texts[1]!)
    t.strictSame(store.texts(), texts)
    t.notSame(store.checkpoint, before, 'the checkpoint moved')
  })
}

const countOf = (store: Store, texts: readonly string[]) =>
  store.reported.filter(
    (happening) =>
      happening.kind === 'message' &&
      happening.message.content.kind === 'text' &&
      texts.includes(happening.message.content.text),
  ).length

function nativeOf(happening: Awaited<ReturnType<Store['message']>>): string {
  if ('message' in happening) return happening.message.native
  throw new Error(`a happening of the kind ${happening.kind} has no message`)
}
