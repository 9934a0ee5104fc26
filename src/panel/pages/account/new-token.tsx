/** Makes a personal access token and shows it, this once. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { tokensQuery } from '../../api/account.ts'
import { call } from '../../api/call.ts'
import type { NewToken } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice, useReason } from '../../ui/states.tsx'

const lifetimes = [7, 30, 90, 366]

export function NewTokenDialog({ onClose }: { onClose(): void }) {
  const t = useT()
  const reason = useReason()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const making = useMutation({
    mutationFn: () =>
      call<NewToken>('POST', '/user/tokens', { body: { name, expires_in_days: Number(days) } }),
    onSuccess: () => queries.invalidateQueries(tokensQuery),
  })
  if (making.data) return <Shown token={making.data.token} onClose={onClose} />
  return (
    <Dialog title={t('tokens.make')} open isFirm={making.isPending} onClose={onClose}>
      <Form by={making}>
        <Field
          label={t('tokens.name')}
          hint={t('tokens.nameHint')}
          wrong={making.error ? reason(making.error) : undefined}
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Choice
          label={t('tokens.lifetime')}
          value={days}
          options={lifetimes.map((count) => [`${count}`, t.count('tokens.days', count)])}
          onChange={setDays}
        />
        <div className="actions">
          <Button disabled={making.isPending} onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit" kind="first" busy={making.isPending}>
            {t('tokens.make')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

function Shown({ token, onClose }: { readonly token: string; onClose(): void }) {
  const t = useT()
  return (
    <Dialog title={t('tokens.made')} open isFirm onClose={onClose}>
      <Notice tone="warn">{t('tokens.once')}</Notice>
      <Copied text={token} wrap />
      <p className="quiet small">{t('tokens.how')}</p>
      <Copied text={`Authorization: apikey ${token}`} wrap />
      <div className="actions">
        <Button kind="first" onClick={onClose}>
          {t('tokens.kept')}
        </Button>
      </div>
    </Dialog>
  )
}
