// Names each sample after its answer, by the rules in load.json. Refusals come first; only "accepted" succeeds.
import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.jmeter.services.FileServer

def json = props.computeIfAbsent('mallbox.json') {
    new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
}
def rules = props.computeIfAbsent('mallbox.rules') {
    json.readTree(new File(FileServer.fileServer.baseDir, 'load.json')).get('rules').toList()
}
def matches = { rule, int status, String body ->
    if (rule.has('status') && rule.get('status').intValue() != status) return false
    def text = rule.path('contains').textValue()
    if (!rule.has('at')) return text == null || body.contains(text)
    def value
    try {
        value = json.readTree(body).at(rule.get('at').textValue())
    } catch (ignored) {
        return false
    }
    if (rule.has('is') && !rule.get('is').equals(value)) return false
    text == null || (value.isTextual() && value.textValue().contains(text))
}

def answer = 'lost'
if (prev.responseCode.isInteger()) {
    int status = prev.responseCode as int
    def body = new String(prev.responseData, 'UTF-8')
    def rule = rules.find { matches(it, status, body) }
    answer = rule != null ? rule.get('answer').textValue() : status in 200..299 ? 'refused' : 'rejected'
}
prev.successful = answer == 'accepted'
prev.sampleLabel = answer
