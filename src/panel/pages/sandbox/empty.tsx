/** Empties the whole sandbox, once its owner is sure. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { emptySandbox } from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

export function EmptySandbox() {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const emptying = useMutation({
    mutationFn: emptySandbox,
    onSuccess({ emptied }) {
      toast(t(emptied ? 'messenger.emptied' : 'messenger.emptying'))
      setAsking(false)
      queries.invalidateQueries({ queryKey: ['sandbox'] })
    },
  })
  return (
    <>
      <Button icon="trash" onClick={() => setAsking(true)}>
        {t('messenger.clear')}
      </Button>
      <Confirm
        title={t('messenger.clearTitle')}
        action={t('messenger.clear')}
        open={isAsking}
        busy={emptying.isPending}
        wrong={emptying.error ? reason(emptying.error) : undefined}
        onConfirm={() => emptying.mutate()}
        onClose={() => setAsking(false)}
      >
        {t('messenger.clearText')}
      </Confirm>
    </>
  )
}
