/** A key while it can still be seen, with the lines that put it to use. */
import { useState } from 'react'
import { baseUrl } from '../../api/session.ts'
import type { ApiKey } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Copied, CopyButton } from '../../ui/copy.tsx'
import { Notice } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { snippets } from './snippets.ts'

export interface NewKeyProps {
  readonly apiKey: ApiKey & { readonly key: string }
  close(): void
}

export function NewKey({ apiKey, close }: NewKeyProps) {
  const t = useT()
  const ready = snippets(baseUrl(), apiKey.key)
  const [shown, setShown] = useState(ready[0]?.name ?? '')
  const code = ready.find(({ name }) => name === shown)?.code ?? ''
  return (
    <>
      <Notice tone="warn">{t('keys.once')}</Notice>
      <Copied text={apiKey.key} wrap />
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
      <div className="actions">
        <ButtonLink to={`/dashboard/keys/${apiKey.api_key_id}`}>{t('keys.toKey')}</ButtonLink>
        <Button kind="first" onClick={close}>
          {t('keys.kept')}
        </Button>
      </div>
    </>
  )
}
