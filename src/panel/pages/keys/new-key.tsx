/** A new key, shown this once, with example code that uses it. */
import { useState } from 'react'
import { baseUrl } from '../../api/session.ts'
import type { ApiKey } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Copied, CopyButton } from '../../ui/copy.tsx'
import { Notice } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { holdKey } from '../explorer/held-key.ts'

interface Snippet {
  readonly name: string
  readonly code: string
}

/** The first lines of a bot, for the libraries that people use, with this service's address. */
const snippets = (base: string, key: string): readonly Snippet[] => [
  {
    name: 'grammY',
    code: `import { Bot } from 'grammy'

const bot = new Bot('${key}', {
  client: { apiRoot: '${base}' },
})
bot.on('message:text', (ctx) => ctx.reply(ctx.message.text))
bot.start()`,
  },
  {
    name: 'Telegraf',
    code: `import { Telegraf } from 'telegraf'

const bot = new Telegraf('${key}', {
  telegram: { apiRoot: '${base}' },
})
bot.on('text', (ctx) => ctx.reply(ctx.message.text))
bot.launch()`,
  },
  {
    name: 'python-telegram-bot',
    code: `from telegram.ext import ApplicationBuilder, MessageHandler, filters

async def echo(update, context):
    await update.message.reply_text(update.message.text)

app = (
    ApplicationBuilder()
    .token("${key}")
    .base_url("${base}/bot")
    .base_file_url("${base}/file/bot")
    .build()
)
app.add_handler(MessageHandler(filters.TEXT, echo))
app.run_polling()`,
  },
  {
    name: 'curl',
    code: `curl '${base}/bot${key}/getMe'

curl '${base}/bot${key}/sendMessage' \\
  -H 'content-type: application/json' \\
  -d '{"chat_id": "@username", "text": "Hello"}'`,
  },
]

/** Example code for several libraries; the secret is that of the key, or a place for it. */
export function Snippets({ secret }: { readonly secret: string }) {
  const t = useT()
  const ready = snippets(baseUrl(), secret)
  const [shown, setShown] = useState(ready[0]?.name ?? '')
  const code = ready.find(({ name }) => name === shown)?.code ?? ''
  return (
    <Tabs
      label={t('keys.snippets')}
      value={shown}
      tabs={ready.map(({ name }) => [name, name])}
      onChange={setShown}
    >
      <div className="copied">
        <pre tabIndex={0}>{code}</pre>
        <CopyButton text={code} />
      </div>
    </Tabs>
  )
}

interface NewKeyProps {
  readonly apiKey: ApiKey & { readonly key: string }
  close(): void
}

export function NewKey({ apiKey, close }: NewKeyProps) {
  const t = useT()
  return (
    <>
      <Notice tone="warn">{t('keys.once')}</Notice>
      <Copied text={apiKey.key} wrap />
      <Snippets secret={apiKey.key} />
      <div className="actions">
        <ButtonLink
          to={`/dashboard/keys/${apiKey.api_key_id}/try`}
          icon="send"
          onClick={() => holdKey(apiKey.api_key_id, apiKey.key)}
        >
          {t('keys.toTry')}
        </ButtonLink>
        <ButtonLink to={`/dashboard/keys/${apiKey.api_key_id}`}>{t('keys.toKey')}</ButtonLink>
        <Button kind="first" onClick={close}>
          {t('keys.kept')}
        </Button>
      </div>
    </>
  )
}
