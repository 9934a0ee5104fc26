{{- define "chapar.name" -}}
{{- if contains "chapar" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-chapar" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "chapar.selector" -}}
app.kubernetes.io/name: chapar
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "chapar.labels" -}}
{{ include "chapar.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
