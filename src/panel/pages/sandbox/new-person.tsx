/** Registers a person with the built-in messenger. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createPerson, type Person, peopleQuery } from '../../api/sandbox.ts'
import { latinDigits } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { useFieldReason, Wrong } from '../../ui/states.tsx'

/** The faults that the service may name. */
const fields = ['first_name', 'phone', 'username', 'password'] as const

interface NewPersonProps {
  onMade(person: Person): void
  onClose(): void
}

type Entries = Readonly<Record<'name' | 'phone' | 'username' | 'password', string>>

function useRegistration(entries: Entries, onMade: (person: Person) => void) {
  const { name, phone, username, password } = entries
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () =>
      createPerson({
        first_name: name.trim(),
        ...(phone.trim() && { phone: phone.trim() }),
        ...(username.trim() && { username: username.trim().replace(/^@/, '') }),
        ...(password && { password }),
      }),
    async onSuccess(person) {
      await queries.invalidateQueries(peopleQuery)
      onMade(person)
    },
  })
}

export function NewPersonDialog({ onMade, onClose }: NewPersonProps) {
  const t = useT()
  const fieldReason = useFieldReason()
  const [name, setName] = useState('')
  const [phone, setPhone] = useState('')
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const making = useRegistration({ name, phone, username, password }, onMade)
  const wrongIn = (name: string) => fieldReason(making.error, name)
  const isShown = fields.some((name) => wrongIn(name) !== undefined)
  return (
    <Dialog title={t('people.make')} open onClose={onClose}>
      <Form by={making}>
        <Field
          label={t('people.name')}
          required
          maxLength={64}
          autoComplete="off"
          value={name}
          wrong={wrongIn('first_name')}
          onChange={(event) => setName(event.target.value)}
        />
        <Field
          label={t('people.phone')}
          hint={t('people.phoneHint')}
          className="ltr"
          type="tel"
          autoComplete="off"
          maxLength={40}
          value={phone}
          wrong={wrongIn('phone')}
          onChange={(event) => setPhone(latinDigits(event.target.value))}
        />
        <SignInFields
          username={username}
          password={password}
          wrongIn={wrongIn}
          setUsername={setUsername}
          setPassword={setPassword}
        />
        {!isShown && <Wrong cause={making.error} />}
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={making.isPending}>
            {t('people.make')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

interface SignInFieldsProps {
  readonly username: string
  readonly password: string
  wrongIn(name: (typeof fields)[number]): string | undefined
  setUsername(username: string): void
  setPassword(password: string): void
}

/** The username by which the person is found, and the password that a link asks for after the code. */
function SignInFields(props: SignInFieldsProps) {
  const { username, password, wrongIn, setUsername, setPassword } = props
  const t = useT()
  return (
    <>
      <Field
        label={t('people.username')}
        hint={t('people.usernameHint')}
        className="ltr"
        autoComplete="off"
        pattern="@?[A-Za-z][A-Za-z0-9_]{3,31}"
        value={username}
        wrong={wrongIn('username')}
        onChange={(event) => setUsername(event.target.value)}
      />
      <Field
        label={t('people.password')}
        hint={t('people.passwordHint')}
        className="ltr"
        autoComplete="off"
        maxLength={256}
        value={password}
        wrong={wrongIn('password')}
        onChange={(event) => setPassword(event.target.value)}
      />
    </>
  )
}
