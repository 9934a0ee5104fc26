/** Another name, other scopes, another expiry for a key; its secret stays. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { expiryIn, lifetimeOptions, Scopes } from '../keys/terms.tsx'

const KEPT = 'kept'

export function ChangeKey({ apiKey, close }: { readonly apiKey: ApiKey; close(): void }) {
  const t = useT()
  const toast = useToast()
  const { moment } = useFormats()
  const queries = useQueryClient()
  const [name, setName] = useState(apiKey.name)
  const [scopes, setScopes] = useState<readonly string[]>(apiKey.scopes)
  const [lifetime, setLifetime] = useState<string>(KEPT)
  const changing = useMutation({
    mutationFn: () =>
      call<ApiKey>('PATCH', `/api_keys/${apiKey.api_key_id}`, {
        body: {
          name: name.trim(),
          scopes,
          ...(lifetime !== KEPT && { expires_at: expiryIn(lifetime) }),
        },
      }),
    onSuccess(changed) {
      queries.setQueryData(['key', apiKey.api_key_id], changed)
      queries.invalidateQueries({ queryKey: ['keys'] })
      toast(t('keys.change.done'))
      close()
    },
  })
  const until = apiKey.expires_at === null ? t('keys.lifetime.never') : moment(apiKey.expires_at)
  return (
    <Dialog title={t('keys.change.title')} open onClose={close}>
      <Form by={changing}>
        <Field
          label={t('keys.name')}
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Scopes chosen={scopes} onChange={setScopes} />
        <Choice
          label={t('keys.lifetime')}
          value={lifetime}
          options={[[KEPT, t('keys.lifetime.kept', { until })], ...lifetimeOptions(t)]}
          onChange={setLifetime}
        />
        <Wrong cause={changing.error} />
        <div className="actions">
          <Button onClick={close}>{t('cancel')}</Button>
          <Button
            type="submit"
            kind="first"
            busy={changing.isPending}
            disabled={scopes.length === 0 || name.trim() === ''}
          >
            {t('save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
